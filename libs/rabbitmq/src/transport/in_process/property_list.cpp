#include "transport/in_process/property_list.hpp"

#include "protocol/table.hpp"

namespace millrace::rabbitmq::detail::in_process {
namespace {

void skip(reader& in, property p) noexcept {
  switch (p) {
  case property::headers:
    (void)in.table();
    return;
  case property::delivery_mode:
  case property::priority:
    (void)in.u8();
    return;
  case property::timestamp:
    (void)in.u64();
    return;
  default:
    (void)in.short_string();
  }
}

} // namespace

std::optional<property_list> property_list::parse(std::string_view bytes) {
  property_list list;
  reader in(bytes);
  const std::uint16_t flags = in.u16();
  for (std::uint16_t more = flags; (more & 1) != 0 && in.ok();)
    more = in.u16();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    if ((flags & (1U << (15 - i))) == 0) continue;
    const std::string_view before = in.rest();
    skip(in, static_cast<property>(i));
    if (in.ok()) list.raw_[i] = before.substr(0, before.size() - in.rest().size());
  }
  if (!in.ok()) return std::nullopt;
  return list;
}

std::string property_list::bytes() const {
  std::string out;
  std::uint16_t flags = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!raw_[i].empty()) flags |= static_cast<std::uint16_t>(1U << (15 - i));
  }
  writer(out).u16(flags);
  for (const std::string& raw : raw_)
    out += raw;
  return out;
}

std::string_view property_list::text(property p) const noexcept {
  reader in(at(p));
  return has(p) ? in.short_string() : std::string_view();
}

std::optional<std::uint8_t> property_list::octet(property p) const noexcept {
  if (!has(p)) return std::nullopt;
  return static_cast<std::uint8_t>(at(p)[0]);
}

void property_list::set_text(property p, std::string_view text) {
  clear(p);
  writer(raw_[static_cast<std::size_t>(p)]).short_string(text);
}

std::string_view property_list::table() const noexcept {
  reader in(at(property::headers));
  return has(property::headers) ? in.table() : std::string_view();
}

void property_list::set_table(std::string_view table) {
  std::string raw;
  writer(raw).long_string(table);
  raw_[static_cast<std::size_t>(property::headers)] = std::move(raw);
}

std::string without_field(std::string_view table, std::string_view name) {
  std::string kept;
  reader in(table);
  while (!in.rest().empty()) {
    const std::string_view before = in.rest();
    const std::string_view field = in.short_string();
    field_value value;
    if (!in.ok() || !read_value(in, value)) break;
    if (field != name) kept += before.substr(0, before.size() - in.rest().size());
  }
  return kept;
}

} // namespace millrace::rabbitmq::detail::in_process
