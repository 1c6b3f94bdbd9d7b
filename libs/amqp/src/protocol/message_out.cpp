#include "protocol/message_out.hpp"

#include "protocol/codes.hpp"
#include "protocol/value.hpp"

#include <millrace/amqp/errors.hpp>
#include <millrace/amqp/fields.hpp>

#include <algorithm>
#include <array>

namespace millrace::amqp::detail {
namespace {

void put(std::string& out, std::uint8_t byte) { out.push_back(static_cast<char>(byte)); }

void put_u32(std::string& out, std::uint32_t n) {
  for (int shift = 24; shift >= 0; shift -= 8)
    put(out, static_cast<std::uint8_t>(n >> shift));
}

/// A string, symbol or binary: its constructor for up to 255 bytes; the long one is 0x10 higher.
void put_bytes(std::string& out, std::uint8_t short_constructor, std::string_view bytes) {
  if (bytes.size() <= 255) {
    put(out, short_constructor);
    put(out, static_cast<std::uint8_t>(bytes.size()));
  } else {
    put(out, static_cast<std::uint8_t>(short_constructor + 0x10));
    put_u32(out, static_cast<std::uint32_t>(bytes.size()));
  }
  out.append(bytes);
}

void begin_section(std::string& out, section code) {
  put(out, constructor::described);
  put(out, constructor::small_ulong);
  put(out, static_cast<std::uint8_t>(code));
}

/// A list or map whose size is written when it is known.
class compound {
 public:
  compound(std::string& out, std::uint8_t constructor) : out_(&out) {
    put(out, constructor);
    at_ = out.size();
    out.append(8, '\0');
  }
  void end(std::uint32_t count) {
    std::string sizes;
    put_u32(sizes, static_cast<std::uint32_t>(out_->size() - at_ - 4));
    put_u32(sizes, count);
    out_->replace(at_, 8, sizes);
  }

 private:
  std::string* out_;
  std::size_t at_;
};

result<std::uint32_t> milliseconds(duration ttl) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(ttl).count();
  if (ms >= 0 && ms <= 0xffffffffLL) return static_cast<std::uint32_t>(ms);
  return fail(errc::invalid_options, "a ttl below 0 or above 49 days");
}

template <class T> std::optional<T> chosen(const outbound_message& m, std::optional<T> message_options::* member) {
  if (m.options != nullptr && m.options->*member) return m.options->*member;
  return m.defaults != nullptr ? m.defaults->*member : std::optional<T>();
}

result<void> append_header(std::string& out, const outbound_message& m) {
  const auto priority = chosen(m, &message_options::priority);
  const auto ttl = chosen(m, &message_options::ttl);
  begin_section(out, section::header);
  std::array<char, 16> room{};
  std::size_t n = 0;
  const auto add = [&](std::uint8_t byte) { room[n++] = static_cast<char>(byte); };
  add(chosen(m, &message_options::durable).value_or(false) ? constructor::boolean_true : constructor::boolean_false);
  if (priority) {
    add(constructor::ubyte);
    add(*priority);
  } else if (ttl) {
    add(constructor::null);
  }
  if (ttl) {
    const auto ms = milliseconds(*ttl);
    if (!ms) return fail(ms.error());
    add(constructor::uint);
    for (int shift = 24; shift >= 0; shift -= 8)
      add(static_cast<std::uint8_t>(*ms >> shift));
  }
  put(out, constructor::list8);
  put(out, static_cast<std::uint8_t>(n + 1));
  put(out, ttl ? 3 : priority ? 2 : 1);
  out.append(room.data(), n);
  return {};
}

/// The headers that have a place among the properties.
struct placed {
  std::string_view message_id, reply_to, correlation_id, content_type, group_id;
  bool any = false;

  bool take(std::string_view name, std::string_view value) noexcept {
    for (const auto& [known, member] : places) {
      if (!equal_ignoring_case(name, known)) continue;
      this->*member = value;
      any = true;
      return true;
    }
    return false;
  }

 private:
  struct place {
    std::string_view name;
    std::string_view placed::* member;
  };
  static const std::array<place, 5> places;
};
const std::array<placed::place, 5> placed::places{{{"content-type", &placed::content_type},
                                                   {"correlation-id", &placed::correlation_id},
                                                   {"reply-to", &placed::reply_to},
                                                   {"message-id", &placed::message_id},
                                                   {partition_key_header, &placed::group_id}}};

std::unexpected<error> not_text(std::string_view header, const char* what) {
  return fail(errc::invalid_options, "the header '" + std::string(header) + "' is not " + what);
}

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

result<void> check(const placed& p) {
  if (!is_ascii(p.content_type)) return not_text("content-type", "ASCII");
  if (!is_utf8(p.reply_to)) return not_text("reply-to", "UTF-8");
  if (!is_utf8(p.group_id)) return not_text(partition_key_header, "UTF-8");
  return {};
}

/// An identifier is a string, or binary where it is not UTF-8.
void put_id(std::string& out, std::string_view id) {
  if (id.data() == nullptr) return put(out, constructor::null);
  put_bytes(out, is_utf8(id) ? constructor::string8 : constructor::binary8, id);
}

void put_optional(std::string& out, std::uint8_t constructor, std::string_view text) {
  if (text.data() == nullptr)
    put(out, constructor::null);
  else
    put_bytes(out, constructor, text);
}

void append_properties(std::string& out, const placed& p) {
  begin_section(out, section::properties);
  compound list(out, constructor::list32);
  put_id(out, p.message_id);
  out.append(3, static_cast<char>(constructor::null)); // user-id, to, subject
  put_optional(out, constructor::string8, p.reply_to);
  put_id(out, p.correlation_id);
  put_optional(out, constructor::symbol8, p.content_type);
  if (p.group_id.data() == nullptr) return list.end(7);
  out.append(3, static_cast<char>(constructor::null)); // content-encoding, both times
  put_bytes(out, constructor::string8, p.group_id);
  list.end(11);
}

result<void> append_application_properties(std::string& out, const header_map& headers) {
  begin_section(out, section::application_properties);
  compound map(out, constructor::map32);
  std::uint32_t count = 0;
  placed known;
  for (const auto [name, value] : headers) {
    if (known.take(name, value)) continue;
    if (!is_utf8(name)) return not_text(name, "UTF-8 in its name");
    put_bytes(out, constructor::string8, name);
    put_bytes(out, is_utf8(value) ? constructor::string8 : constructor::binary8, value);
    count += 2;
  }
  map.end(count);
  return {};
}

} // namespace

result<void> append_message(std::string& out, const outbound_message& m) {
  if (auto header = append_header(out, m); !header) return header;
  placed known;
  std::size_t others = 0;
  if (m.headers != nullptr) {
    for (const auto [name, value] : *m.headers)
      others += known.take(name, value) ? 0 : 1;
  }
  if (!m.reply_to.empty()) known.take("reply-to", m.reply_to);
  if (!m.correlation_id.empty()) known.take("correlation-id", m.correlation_id);
  if (auto fits = check(known); !fits) return fits;
  if (known.any) append_properties(out, known);
  if (others > 0) {
    if (auto written = append_application_properties(out, *m.headers); !written) return written;
  }
  begin_section(out, section::data);
  put_bytes(out, constructor::binary8, as_text(m.payload));
  return {};
}

} // namespace millrace::amqp::detail
