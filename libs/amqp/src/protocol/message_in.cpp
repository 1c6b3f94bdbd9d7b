#include "protocol/message_in.hpp"

#include "protocol/codes.hpp"
#include "protocol/value.hpp"

#include <millrace/amqp/fields.hpp>
#include <millrace/context.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace millrace::amqp::detail {
namespace {

void read_header(received& to, const wire_value& list) noexcept {
  value_reader in(list.body);
  for (std::uint32_t i = 0; i < list.count && i < 5 && in.ok(); ++i) {
    const wire_value v = in.next();
    if (i == 0) to.durable = v.as_bool().value_or(false);
    if (i == 1) to.priority = static_cast<std::uint8_t>(v.as_unsigned().value_or(4));
    if (i == 3) to.first_acquirer = v.as_bool().value_or(false);
    if (i == 4) {
      to.failed_deliveries = static_cast<std::uint32_t>(std::min<std::uint64_t>(v.as_unsigned().value_or(0), 1U << 30));
    }
  }
}

/// Puts one more data section behind those that were read.
void append_data(received& to, std::string& bytes, std::string_view part) noexcept {
  if (to.payload.empty()) {
    to.payload = part;
    return;
  }
  const std::size_t end = static_cast<std::size_t>(to.payload.data() - bytes.data()) + to.payload.size();
  std::memmove(bytes.data() + end, part.data(), part.size()); // it never lies in front
  to.payload = std::string_view(to.payload.data(), to.payload.size() + part.size());
}

void read_section(received& to, std::string& bytes, const wire_value& v) noexcept {
  switch (static_cast<section>(v.descriptor)) {
  case section::header:
    if (v.is_list()) read_header(to, v);
    return;
  case section::properties:
    if (!v.is_list()) return;
    to.properties = v.body;
    to.properties_count = std::min(v.count, 13U);
    return;
  case section::application_properties:
    if (v.is_map()) to.application_properties = v.body;
    return;
  case section::data:
    if (v.is_binary()) return append_data(to, bytes, v.body);
    to.body = received::body_kind::malformed;
    return;
  case section::value:
    if (v.is_binary() || v.is_string())
      to.payload = v.body;
    else if (!v.is_null())
      to.body = received::body_kind::unsupported;
    return;
  case section::sequence:
    to.body = received::body_kind::unsupported;
    return;
  default:
    return; // annotations and the footer are not surfaced
  }
}

/// Where a property stands in its list, and the header that it becomes.
struct mapped_property {
  std::uint32_t place;
  std::string_view header;
};
constexpr mapped_property mapped[] = {
    {0, "message-id"}, {4, "reply-to"}, {5, "correlation-id"}, {6, "content-type"}, {10, partition_key_header}};

constexpr std::uint32_t correlation_place = 5;

/// Text goes over as it stands, other scalars by way of `scratch`.
void add_header(header_map& to, std::string_view name, const wire_value& value, std::string& scratch) {
  if (value.is_string() || value.is_symbol() || value.is_binary()) return to.add(name, value.body);
  scratch.clear();
  if (append_text(scratch, value)) to.add(name, scratch);
}

} // namespace

received read_message(std::string& bytes) noexcept {
  received out;
  value_reader in(bytes);
  while (!in.done()) {
    const wire_value v = in.next();
    if (!in.ok() || !v.described) {
      out.body = received::body_kind::malformed;
      return out;
    }
    read_section(out, bytes, v);
  }
  return out;
}

received_properties::received_properties(const received& from) noexcept {
  value_reader in(from.properties);
  for (std::uint32_t i = 0; i < from.properties_count && in.ok(); ++i) {
    const wire_value v = in.next();
    if (i == 2) to = v.as_bytes();
    if (i == 3) subject = v.as_bytes();
    if (i == 4) reply_to = v.as_bytes();
    if (i == 10) group_id = v.as_bytes();
  }
}

void add_headers(header_map& to, const received& from) {
  std::string scratch;
  value_reader own(from.application_properties);
  while (!own.done()) {
    const wire_value name = own.next();
    const wire_value value = own.next();
    if (!own.ok()) break;
    if (!name.as_bytes().empty()) add_header(to, name.as_bytes(), value, scratch);
  }
  value_reader in(from.properties);
  const mapped_property* next = std::begin(mapped);
  for (std::uint32_t i = 0; i < from.properties_count && in.ok() && next != std::end(mapped); ++i) {
    const wire_value v = in.next();
    if (i != next->place) continue;
    add_header(to, next->header, v, scratch);
    ++next;
  }
}

bool correlation_of(const received& from, std::string& out) {
  value_reader in(from.properties);
  for (std::uint32_t i = 0; i < from.properties_count && in.ok(); ++i) {
    const wire_value v = in.next();
    if (i == correlation_place) return !v.is_null() && append_text(out, v);
  }
  return false;
}

std::uint32_t copies_of(const received& from) noexcept {
  value_reader in(from.application_properties);
  while (!in.done()) {
    const wire_value name = in.next();
    const wire_value value = in.next();
    if (!in.ok()) return 0;
    if (!equal_ignoring_case(name.as_bytes(), retry_count_header)) continue;
    const std::string_view text = value.as_bytes();
    std::uint32_t n = 0;
    std::from_chars(text.data(), text.data() + text.size(), n);
    return std::min(n, std::uint32_t{1} << 30);
  }
  return 0;
}

} // namespace millrace::amqp::detail
