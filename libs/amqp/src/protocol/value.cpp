#include "protocol/value.hpp"

#include "protocol/codes.hpp"

#include <bit>
#include <charconv>

namespace millrace::amqp::detail {
namespace {

/// How many bytes a constructor's size takes, or its value, by the upper half of its code.
constexpr std::size_t fixed_width(std::uint8_t family) noexcept {
  return family == 4 ? 0 : std::size_t{1} << (family - 5);
}

std::int64_t signed_value(std::string_view bytes) noexcept {
  const std::uint64_t raw = big_endian(bytes);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(bytes.size());
  return unused == 64 ? 0 : static_cast<std::int64_t>(raw << unused) >> unused;
}

template <class Number> void append_number(std::string& out, Number n) {
  char room[40];
  const auto written = std::to_chars(room, room + sizeof room, n);
  out.append(room, written.ptr);
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  const std::uint32_t lead = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
  out.push_back(static_cast<char>(lead | (c >> (6 * more))));
  for (int i = more - 1; i >= 0; --i)
    out.push_back(static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3f)));
}

void append_uuid(std::string& out, std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out.push_back('-');
    const auto b = static_cast<unsigned char>(bytes[i]);
    out.push_back(digits[b >> 4]);
    out.push_back(digits[b & 15]);
  }
}

} // namespace

std::uint64_t big_endian(std::string_view bytes) noexcept {
  std::uint64_t n = 0;
  for (const char c : bytes)
    n = n << 8 | static_cast<unsigned char>(c);
  return n;
}

bool wire_value::is_list() const noexcept {
  return constructor == constructor::list_0 || constructor == constructor::list8 || constructor == constructor::list32;
}
bool wire_value::is_map() const noexcept {
  return constructor == constructor::map8 || constructor == constructor::map32;
}
bool wire_value::is_binary() const noexcept {
  return constructor == constructor::binary8 || constructor == constructor::binary32;
}
bool wire_value::is_string() const noexcept {
  return constructor == constructor::string8 || constructor == constructor::string32;
}
bool wire_value::is_symbol() const noexcept {
  return constructor == constructor::symbol8 || constructor == constructor::symbol32;
}

std::string_view wire_value::as_bytes() const noexcept {
  return is_binary() || is_string() || is_symbol() ? body : std::string_view();
}

std::optional<std::uint64_t> wire_value::as_unsigned() const noexcept {
  switch (constructor) {
  case constructor::uint_0:
  case constructor::ulong_0:
    return 0;
  case constructor::ubyte:
  case constructor::ushort:
  case constructor::uint:
  case constructor::small_uint:
  case constructor::ulong:
  case constructor::small_ulong:
    return big_endian(body);
  default:
    return std::nullopt;
  }
}

std::optional<bool> wire_value::as_bool() const noexcept {
  if (constructor == constructor::boolean_true) return true;
  if (constructor == constructor::boolean_false) return false;
  if (constructor == constructor::boolean) return body[0] != 0;
  return std::nullopt;
}

wire_value value_reader::failed() noexcept {
  ok_ = false;
  left_ = {};
  return {};
}

std::string_view value_reader::take(std::size_t n) noexcept {
  if (n > left_.size()) {
    (void)failed();
    return {};
  }
  const std::string_view taken = left_.substr(0, n);
  left_.remove_prefix(n);
  return taken;
}

std::uint64_t value_reader::number(std::size_t width) noexcept { return big_endian(take(width)); }

/// A described value may be described again; the innermost descriptor counts, and depth cannot grow.
wire_value value_reader::next() noexcept {
  bool described = false;
  std::uint64_t descriptor = 0;
  while (ok_ && !left_.empty() && left_[0] == 0) {
    left_.remove_prefix(1);
    if (left_.empty() || left_[0] == 0) return failed();
    const wire_value name = primitive(static_cast<std::uint8_t>(number(1)));
    described = true;
    descriptor = name.as_unsigned().value_or(0);
  }
  if (!ok_ || left_.empty()) return failed();
  wire_value value = primitive(static_cast<std::uint8_t>(number(1)));
  value.described = described;
  value.descriptor = descriptor;
  return value;
}

wire_value value_reader::primitive(std::uint8_t constructor) noexcept {
  const auto family = static_cast<std::uint8_t>(constructor >> 4);
  wire_value value;
  value.constructor = constructor;
  if (family < 4) return failed();
  if (family <= 9) {
    value.body = take(fixed_width(family));
  } else {
    const std::size_t width = family % 2 == 0 ? 1 : 4;
    const std::uint64_t size = number(width);
    value.body = take(size);
    if (ok_ && family >= 0xc) return compound(value, width);
  }
  return ok_ ? value : wire_value();
}

wire_value value_reader::compound(wire_value value, std::size_t width) noexcept {
  if (value.body.size() < width) return failed();
  value.count = static_cast<std::uint32_t>(big_endian(value.body.substr(0, width)));
  value.body.remove_prefix(width);
  const bool array = value.constructor >> 4 >= 0xe;
  if (!array && value.count > value.body.size()) return failed(); // each element takes a byte at least
  return value;
}

bool append_text(std::string& out, const wire_value& value) {
  if (value.is_string() || value.is_symbol() || value.is_binary()) {
    out.append(value.body);
    return true;
  }
  if (const auto n = value.as_unsigned()) {
    append_number(out, *n);
    return true;
  }
  if (const auto yes = value.as_bool()) {
    out.append(*yes ? "true" : "false");
    return true;
  }
  switch (value.constructor) {
  case constructor::byte:
  case constructor::int16:
  case constructor::int32:
  case constructor::small_int:
  case constructor::int64:
  case constructor::small_long:
  case constructor::timestamp:
    append_number(out, signed_value(value.body));
    return true;
  case constructor::float32:
    append_number(out, std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(value.body))));
    return true;
  case constructor::float64:
    append_number(out, std::bit_cast<double>(big_endian(value.body)));
    return true;
  case constructor::character:
    append_utf8(out, static_cast<std::uint32_t>(big_endian(value.body)) & 0x1fffff);
    return true;
  case constructor::uuid:
    append_uuid(out, value.body);
    return true;
  default:
    return false;
  }
}

} // namespace millrace::amqp::detail
