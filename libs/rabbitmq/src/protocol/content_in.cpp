#include "protocol/content.hpp"

#include "protocol/table.hpp"

#include <charconv>
#include <limits>

namespace millrace::rabbitmq::detail {
namespace {

std::uint16_t read_flags(reader& in) noexcept {
  const std::uint16_t flags = in.u16();
  for (std::uint16_t more = flags; (more & 1) != 0 && in.ok();)
    more = in.u16();
  return flags;
}

void add_text(header_map& to, std::string_view name, std::string_view value) {
  if (!value.empty()) to.add(name, value);
}

} // namespace

received_properties::received_properties(std::string_view bytes) noexcept {
  reader in(bytes);
  const std::uint16_t flags = read_flags(in);
  if ((flags & 1 << 15) != 0) content_type = in.short_string();
  if ((flags & 1 << 14) != 0) (void)in.short_string();
  if ((flags & 1 << 13) != 0) table = in.table();
  if ((flags & 1 << 12) != 0) delivery_mode = in.u8();
  if ((flags & 1 << 11) != 0) {
    const std::uint8_t level = in.u8();
    if (in.ok()) priority = level;
  }
  if ((flags & 1 << 10) != 0) correlation_id = in.short_string();
  if ((flags & 1 << 9) != 0) reply_to = in.short_string();
  if ((flags & 1 << 8) != 0) expiration = in.short_string();
  if ((flags & 1 << 7) != 0) message_id = in.short_string();
}

void add_headers(header_map& to, const received_properties& from) {
  add_text(to, "content-type", from.content_type);
  add_text(to, "correlation-id", from.correlation_id);
  add_text(to, "reply-to", from.reply_to);
  add_text(to, "message-id", from.message_id);
  add_text(to, "amqp-expiration", from.expiration);
  if (from.priority >= 0) {
    char room[8];
    const auto written = std::to_chars(room, room + sizeof room, from.priority);
    to.add("amqp-priority", {room, static_cast<std::size_t>(written.ptr - room)});
  }
  for_each_field(from.table, [&](std::string_view name, const field_value& value) {
    if (value.what == field_value::kind::text) to.add(name, value.text);
    return true;
  });
}

std::uint32_t delivery_count_of(std::string_view properties) noexcept {
  const auto found = find_field(received_properties(properties).table, "x-delivery-count");
  if (!found || found->what != field_value::kind::integer || found->integer < 0) return 0;
  if (found->integer >= std::numeric_limits<std::uint32_t>::max()) return std::numeric_limits<std::uint32_t>::max() - 1;
  return static_cast<std::uint32_t>(found->integer);
}

} // namespace millrace::rabbitmq::detail
