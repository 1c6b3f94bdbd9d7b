#include "protocol/message_codec.hpp"

#include <millrace/codec/detail/utf8.hpp>
#include <millrace/pubsub/fields.hpp>

namespace millrace::pubsub::detail {
namespace {

bool is_key(std::string_view name) noexcept { return equal_ignoring_case(name, partition_key_header); }

using millrace::detail::is_utf8;

std::string fault_of_attribute(std::string_view name, std::string_view value) {
  if (name.empty()) return "a header without a name";
  const std::string which = "header '" + std::string(name.substr(0, 64)) + "': ";
  if (name.size() > longest_key) return which + "a name has at most 256 bytes";
  if (name.starts_with("goog")) return which + "a name does not start with \"goog\"";
  if (!is_utf8(name)) return which + "the name is not UTF-8";
  if (value.size() > longest_value) return which + "a value has at most 1024 bytes";
  if (!is_utf8(value)) return which + "the value is not UTF-8";
  return {};
}

struct header_totals {
  std::size_t count = 0;
  std::size_t bytes = 0;   ///< of names and values
  std::size_t encoded = 0; ///< as fields of a PubsubMessage
};

std::size_t entry_size(header_map::entry e) noexcept {
  return bytes_field_size(e.name.size()) + bytes_field_size(e.value.size());
}

header_totals totals_of(const header_map* headers) noexcept {
  header_totals t;
  if (headers == nullptr) return t;
  for (const auto e : *headers) {
    if (is_key(e.name)) continue;
    ++t.count;
    t.bytes += e.name.size() + e.value.size();
    t.encoded += bytes_field_size(entry_size(e));
  }
  return t;
}

std::size_t body_size(const outgoing_message& m) noexcept {
  std::size_t size = totals_of(m.headers).encoded;
  if (!m.payload.empty()) size += bytes_field_size(m.payload.size());
  if (!m.ordering_key.empty()) size += bytes_field_size(m.ordering_key.size());
  return size;
}

} // namespace

std::string fault_of(const outgoing_message& m) {
  const header_totals t = totals_of(m.headers);
  if (m.payload.empty() && t.count == 0) return "a message has data or at least one attribute";
  if (t.count > most_attributes) return "a message has at most 100 attributes, this one has " + std::to_string(t.count);
  if (m.ordering_key.size() > longest_ordering_key) return "an ordering key has at most 1024 bytes";
  if (!is_utf8(m.ordering_key)) return "the ordering key is not UTF-8";
  if (m.payload.size() + t.bytes + m.ordering_key.size() > largest_message) return "a message has at most 10 MiB";
  if (m.headers == nullptr) return {};
  for (const auto e : *m.headers) {
    if (is_key(e.name)) continue;
    if (std::string fault = fault_of_attribute(e.name, e.value); !fault.empty()) return fault;
  }
  return {};
}

std::size_t encoded_size(const outgoing_message& m) noexcept { return bytes_field_size(body_size(m)); }

void put_message(std::string& to, const outgoing_message& m) {
  put_varint(to, (2U << 3U) | 2U);
  put_varint(to, body_size(m));
  if (!m.payload.empty()) put_bytes(to, 1, as_text(m.payload));
  if (m.headers != nullptr) {
    for (const auto e : *m.headers) {
      if (is_key(e.name)) continue;
      put_varint(to, (2U << 3U) | 2U);
      put_varint(to, entry_size(e));
      put_bytes(to, 1, e.name);
      put_bytes(to, 2, e.value);
    }
  }
  if (!m.ordering_key.empty()) put_bytes(to, 5, m.ordering_key);
}

std::optional<std::vector<std::string_view>> read_message_ids(std::string_view response) {
  std::vector<std::string_view> ids;
  wire_reader in(response);
  wire_field field;
  while (in.next(field))
    if (field.number == 1 && field.type == wire_type::bytes) ids.push_back(field.content);
  if (in.failed()) return std::nullopt;
  return ids;
}

namespace {

bool read_message(std::string_view input, received_view& to) noexcept {
  wire_reader in(input);
  wire_field field;
  while (in.next(field)) {
    if (field.type != wire_type::bytes) continue;
    if (field.number == 1)
      to.data = field.content;
    else if (field.number == 3)
      to.message_id = field.content;
    else if (field.number == 4)
      to.publish_time = field.content;
    else if (field.number == 5)
      to.ordering_key = field.content;
  }
  return !in.failed();
}

} // namespace

bool read_received(std::string_view input, received_view& to) noexcept {
  wire_reader in(input);
  wire_field field;
  bool well = true;
  while (in.next(field)) {
    if (field.number == 1 && field.type == wire_type::bytes) {
      to.ack_id = field.content;
    } else if (field.number == 2 && field.type == wire_type::bytes) {
      to.message = field.content;
      well = read_message(field.content, to) && well;
    } else if (field.number == 3 && field.type == wire_type::varint) {
      to.delivery_attempt = static_cast<std::uint32_t>(field.value);
    }
  }
  return well && !in.failed();
}

void read_attributes(std::string_view message, header_map& to) {
  wire_reader in(message);
  wire_field field;
  while (in.next(field)) {
    if (field.number != 2 || field.type != wire_type::bytes) continue;
    std::string_view name;
    std::string_view value;
    wire_reader entry(field.content);
    while (entry.next(field)) {
      if (field.number == 1) name = field.content;
      if (field.number == 2) value = field.content;
    }
    to.add(name, value);
  }
}

std::int64_t read_timestamp(std::string_view timestamp) noexcept {
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  wire_reader in(timestamp);
  wire_field field;
  while (in.next(field)) {
    if (field.number == 1 && field.type == wire_type::varint) seconds = static_cast<std::int64_t>(field.value);
    if (field.number == 2 && field.type == wire_type::varint) nanos = static_cast<std::int64_t>(field.value);
  }
  constexpr std::int64_t latest = 9'000'000'000;
  if (seconds < -latest || seconds > latest) return 0;
  return seconds * 1'000'000'000 + nanos;
}

} // namespace millrace::pubsub::detail
