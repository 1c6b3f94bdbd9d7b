#include <millrace/codec/detail/json_reader.hpp>

#include "json_scan.hpp"

namespace millrace::detail {
namespace {

constexpr const char* truncated = "truncated input";

char unescaped(char c) noexcept {
  switch (c) {
  case '"':
  case '\\':
  case '/':
    return c;
  case 'b':
    return '\b';
  case 'f':
    return '\f';
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  default:
    return '\0';
  }
}

std::size_t encode_utf8(std::uint32_t point, char (&bytes)[4]) noexcept {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
  if (point < 0x80) {
    bytes[0] = static_cast<char>(point);
    return 1;
  }
  if (point < 0x800) {
    bytes[0] = static_cast<char>(0xc0 | (point >> 6));
    bytes[1] = tail(0);
    return 2;
  }
  if (point < 0x10000) {
    bytes[0] = static_cast<char>(0xe0 | (point >> 12));
    bytes[1] = tail(6);
    bytes[2] = tail(0);
    return 3;
  }
  bytes[0] = static_cast<char>(0xf0 | (point >> 18));
  bytes[1] = tail(12);
  bytes[2] = tail(6);
  bytes[3] = tail(0);
  return 4;
}

void assign(std::string& out, const char* first, const char* last) {
  const auto size = static_cast<std::size_t>(last - first);
  if (size > out.capacity()) [[unlikely]] {
    out.assign(first, size);
    return;
  }
  out.resize_and_overwrite(size, [first](char* to, std::size_t count) {
    std::memcpy(to, first, count);
    return count;
  });
}

} // namespace

/// The quote or backslash that ends a run of valid text, or null after a failure.
const char* json_reader::text_run(const char* from) {
  const char* at = from;
  while ((at = skip_plain_json(at, end_)) != end_) {
    if (*at == '"' || *at == '\\') return at;
    if (static_cast<unsigned char>(*at) < 0x20) return fail_at(at, "control character in a string"), nullptr;
    do {
      const auto size = utf8_sequence(at, end_);
      if (size == 0) return fail_at(at, "invalid UTF-8"), nullptr;
      at += size;
    } while (at != end_ && static_cast<unsigned char>(*at) >= 0x80);
  }
  return fail_at(end_, truncated), nullptr;
}

bool json_reader::read_code_unit(const char* at, std::uint32_t& unit) {
  unit = 0;
  for (int i = 0; i != 4; ++i, ++at) {
    if (at == end_) return fail_at(at, truncated);
    const char c = *at;
    unit <<= 4;
    if (c >= '0' && c <= '9')
      unit += static_cast<std::uint32_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      unit += static_cast<std::uint32_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      unit += static_cast<std::uint32_t>(c - 'A' + 10);
    else
      return fail_at(at, "bad escape");
  }
  return true;
}

/// The end of the escape; what it means is in `bytes`. Null after a failure.
const char* json_reader::read_escape(const char* backslash, char (&bytes)[4], std::size_t& size) {
  const char* at = backslash + 1;
  if (at == end_) return fail_at(at, truncated), nullptr;
  size = 1;
  bytes[0] = unescaped(*at);
  if (bytes[0] != '\0') return at + 1;
  if (*at != 'u') return fail_at(backslash, "bad escape"), nullptr;
  std::uint32_t point;
  if (!read_code_unit(++at, point)) return nullptr;
  at += 4;
  if (point >= 0xd800 && point < 0xe000) {
    std::uint32_t low = 0;
    const bool paired = point < 0xdc00 && end_ - at >= 2 && at[0] == '\\' && at[1] == 'u';
    if (paired && !read_code_unit(at + 2, low)) return nullptr;
    if (low < 0xdc00 || low >= 0xe000) return fail_at(backslash, "lone surrogate"), nullptr;
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    at += 6;
  }
  size = encode_utf8(point, bytes);
  return at;
}

/// The text between the byte `first` and the closing quote, whose first escape is known.
bool json_reader::read_escaped_text(const char* first, const char* escape, std::string& out) {
  out.assign(first, escape);
  while (*escape == '\\') {
    char bytes[4];
    std::size_t size;
    const char* const run = read_escape(escape, bytes, size);
    if (run == nullptr) return false;
    out.append(bytes, size);
    escape = text_run(run);
    if (escape == nullptr) return false;
    out.append(run, escape);
  }
  pos_ = escape + 1;
  return true;
}

bool json_reader::read_text(std::string& out) {
  if (peek() != '"') [[unlikely]]
    return wrong_type("a string");
  const char* const first = pos_ + 1;
  const char* last = skip_plain_json(first, end_);
  if (last == end_ || *last != '"') [[unlikely]] {
    last = text_run(last);
    if (last == nullptr) return false;
    if (*last == '\\') return read_escaped_text(first, last, out);
  }
  assign(out, first, last);
  pos_ = last + 1;
  return true;
}

/// Text without escapes stays where it is.
bool json_reader::read_text_view(std::string_view& text, json_key* key) {
  const char* const first = pos_ + 1;
  const char* const last = text_run(first);
  if (last == nullptr) return false;
  if (*last == '\\') {
    if (!read_escaped_text(first, last, text_)) return false;
    text = text_;
  } else {
    text = {first, last};
    pos_ = last + 1;
  }
  if (key != nullptr) key->raw = {first, pos_ - 1};
  return true;
}

bool json_reader::skip_text() {
  const char* at = text_run(pos_ + 1);
  while (at != nullptr && *at == '\\') {
    char bytes[4];
    std::size_t size;
    at = read_escape(at, bytes, size);
    if (at != nullptr) at = text_run(at);
  }
  if (at == nullptr) return false;
  pos_ = at + 1;
  return true;
}

bool json_reader::read_enumerator(std::span<const std::string_view> names, std::size_t& index) {
  if (peek() != '"') return wrong_type("the name of an enumerator");
  const char* const start = pos_;
  std::string_view name;
  if (!read_text_view(name, nullptr)) return false;
  for (index = 0; index != names.size(); ++index) {
    if (names[index] == name) return true;
  }
  return fail_at(start, "unknown enumerator");
}

} // namespace millrace::detail
