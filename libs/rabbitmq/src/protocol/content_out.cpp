#include "protocol/content.hpp"

#include <millrace/rabbitmq/errors.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <limits>

namespace millrace::rabbitmq::detail {
namespace {

enum property : std::uint16_t {
  has_content_type = 1 << 15,
  has_headers = 1 << 13,
  has_delivery_mode = 1 << 12,
  has_priority = 1 << 11,
  has_correlation_id = 1 << 10,
  has_reply_to = 1 << 9,
  has_expiration = 1 << 8,
  has_message_id = 1 << 7,
  has_timestamp = 1 << 6,
  has_type = 1 << 5,
  has_app_id = 1 << 3,
};

/// Writes into memory that was sized before.
class raw_writer {
 public:
  explicit raw_writer(char* at) noexcept : at_(at) {}
  void u8(std::uint8_t v) noexcept { *at_++ = static_cast<char>(v); }
  void u16(std::uint16_t v) noexcept { number<2>(v); }
  void u32(std::uint32_t v) noexcept { number<4>(v); }
  void u64(std::uint64_t v) noexcept { number<8>(v); }
  void bytes(std::string_view text) noexcept {
    if (!text.empty()) std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void short_string(std::string_view text) noexcept {
    u8(static_cast<std::uint8_t>(text.size()));
    bytes(text);
  }
  void head(frame_type type, std::uint16_t channel, std::size_t size) noexcept {
    u8(static_cast<std::uint8_t>(type));
    u16(channel);
    u32(static_cast<std::uint32_t>(size));
  }
  void end() noexcept { u8(frame_end); }

 private:
  template <int N> void number(std::uint64_t v) noexcept {
    for (int i = 0; i < N; ++i)
      at_[i] = static_cast<char>(v >> (8 * (N - 1 - i)));
    at_ += N;
  }
  char* at_;
};

std::string_view message_properties::* native(std::string_view name) noexcept {
  if (name.size() < 8 || name.size() > 14) return nullptr;
  if (equal_ignoring_case(name, "content-type")) return &message_properties::content_type;
  if (equal_ignoring_case(name, "correlation-id")) return &message_properties::correlation_id;
  if (equal_ignoring_case(name, "reply-to")) return &message_properties::reply_to;
  if (equal_ignoring_case(name, "message-id")) return &message_properties::message_id;
  return nullptr;
}

struct layout {
  std::uint16_t flags = 0;
  std::size_t table = 0;  ///< bytes of the table without its length
  std::size_t header = 0; ///< bytes of the content header's payload
  std::size_t publish = 0;
  std::size_t body = 0; ///< with the overhead of its frames
  [[nodiscard]] std::size_t total() const noexcept { return publish + header + 2 * frame_overhead + body; }
};

std::size_t table_size(const message_properties& p) noexcept {
  std::size_t size = 0;
  if (p.delay >= 0) size += 1 + 7 + 1 + 8;
  if (!p.has_table) return size;
  for (const auto [name, value] : *p.headers) {
    if (native(name) == nullptr) size += 1 + name.size() + 5 + value.size();
  }
  return size;
}

void count(layout& l, std::uint16_t flag, std::string_view text) noexcept {
  if (text.empty()) return;
  l.flags |= flag;
  l.header += 1 + text.size();
}

layout measure(const message_properties& p) noexcept {
  layout l;
  l.header = 14;
  count(l, has_content_type, p.content_type);
  if (p.has_table || p.delay >= 0) {
    l.table = table_size(p);
    l.flags |= has_headers;
    l.header += 4 + l.table;
  }
  l.flags |= has_delivery_mode;
  l.header += 1;
  if (p.priority >= 0) {
    l.flags |= has_priority;
    l.header += 1;
  }
  count(l, has_correlation_id, p.correlation_id);
  count(l, has_reply_to, p.reply_to);
  count(l, has_expiration, p.expiration);
  count(l, has_message_id, p.message_id);
  if (p.timestamp >= 0) {
    l.flags |= has_timestamp;
    l.header += 8;
  }
  count(l, has_type, p.type);
  count(l, has_app_id, p.app_id);
  return l;
}

void write_table(raw_writer& out, const message_properties& p, std::size_t size) noexcept {
  out.u32(static_cast<std::uint32_t>(size));
  if (p.delay >= 0) {
    out.short_string("x-delay");
    out.u8('l');
    out.u64(static_cast<std::uint64_t>(p.delay));
  }
  if (!p.has_table) return;
  for (const auto [name, value] : *p.headers) {
    if (native(name) != nullptr) continue;
    out.short_string(name);
    out.u8('S');
    out.u32(static_cast<std::uint32_t>(value.size()));
    out.bytes(value);
  }
}

void write_properties(raw_writer& out, const message_properties& p, const layout& l) noexcept {
  out.u16(l.flags);
  if ((l.flags & has_content_type) != 0) out.short_string(p.content_type);
  if ((l.flags & has_headers) != 0) write_table(out, p, l.table);
  out.u8(p.delivery_mode);
  if ((l.flags & has_priority) != 0) out.u8(static_cast<std::uint8_t>(p.priority));
  if ((l.flags & has_correlation_id) != 0) out.short_string(p.correlation_id);
  if ((l.flags & has_reply_to) != 0) out.short_string(p.reply_to);
  if ((l.flags & has_expiration) != 0) out.short_string(p.expiration);
  if ((l.flags & has_message_id) != 0) out.short_string(p.message_id);
  if ((l.flags & has_timestamp) != 0) out.u64(static_cast<std::uint64_t>(p.timestamp));
  if ((l.flags & has_type) != 0) out.short_string(p.type);
  if ((l.flags & has_app_id) != 0) out.short_string(p.app_id);
}

} // namespace

result<void> message_properties::take(const header_map& map) {
  headers = &map;
  for (const auto [name, value] : map) {
    if (name.size() > most_short) return fail(errc::invalid_options, "a header's name is longer than 255 bytes");
    const auto property = native(name);
    if (property == nullptr) {
      has_table = true;
      continue;
    }
    if (value.size() > most_short) {
      return fail(errc::invalid_options, "the header '" + std::string(name) + "' is longer than 255 bytes");
    }
    this->*property = value;
  }
  return {};
}

std::string_view milliseconds_text(duration d, char (&room)[16]) noexcept {
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  if (ms == 0 && d > duration::zero()) ms = 1;
  if (ms < 0 || ms > std::numeric_limits<std::uint32_t>::max()) return {};
  const auto written = std::to_chars(room, room + sizeof room, ms);
  return {room, static_cast<std::size_t>(written.ptr - room)};
}

void append_publish(std::string& out, std::uint16_t channel, std::string_view exchange, std::string_view routing_key,
                    bool mandatory, const message_properties& properties, bytes_view payload, std::uint32_t frame_max) {
  layout l = measure(properties);
  const std::size_t most = frame_max - frame_overhead;
  const std::size_t frames = (payload.size() + most - 1) / most;
  l.publish = 4 + 2 + 1 + exchange.size() + 1 + routing_key.size() + 1;
  l.body = payload.size() + frames * frame_overhead;
  const std::size_t at = out.size();
  const std::size_t size = at + l.total();
  // libstdc++ 12 gives the operation the grown capacity instead of the size that was asked for.
  out.resize_and_overwrite(size, [size](char*, std::size_t) { return size; });
  raw_writer to(out.data() + at);
  to.head(frame_type::method, channel, l.publish);
  to.u32(static_cast<std::uint32_t>(method::basic_publish));
  to.u16(0);
  to.short_string(exchange);
  to.short_string(routing_key);
  to.u8(mandatory ? 1 : 0);
  to.end();
  to.head(frame_type::header, channel, l.header);
  to.u32(60 << 16);
  to.u64(payload.size());
  write_properties(to, properties, l);
  to.end();
  for (std::string_view left = as_text(payload); !left.empty();) {
    const std::string_view part = left.substr(0, most);
    to.head(frame_type::body, channel, part.size());
    to.bytes(part);
    to.end();
    left.remove_prefix(part.size());
  }
}

} // namespace millrace::rabbitmq::detail
