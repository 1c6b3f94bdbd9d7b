#include <millrace/codec/detail/json_writer.hpp>

#include "json_scan.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

namespace millrace::detail {
namespace {

/// Sign and 20 digits of an integer, or sign, 17 digits, point and exponent of a double.
constexpr std::size_t longest_number = 32;
constexpr std::size_t most_digits = 20; // of 64 bits

constexpr auto digit_pairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i != 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

/// Into a place of `longest_number` characters; some of them behind the number are overwritten. Answers its end.
char* write_decimal(char* to, std::uint64_t value) noexcept {
  std::array<char, 2 * most_digits> digits{}; // right-aligned in the first half, so that a copy has a fixed size
  std::size_t first = most_digits;
  for (; value >= 100; value /= 100)
    std::memcpy(&digits[first -= 2], &digit_pairs[2 * (value % 100)], 2);
  if (value >= 10)
    std::memcpy(&digits[first -= 2], &digit_pairs[2 * value], 2);
  else
    digits[--first] = static_cast<char>('0' + value);
  std::memcpy(to, &digits[first], most_digits);
  return to + (most_digits - first);
}

char short_escape(char c) noexcept {
  switch (c) {
  case '"':
  case '\\':
    return c;
  case '\b':
    return 'b';
  case '\f':
    return 'f';
  case '\n':
    return 'n';
  case '\r':
    return 'r';
  case '\t':
    return 't';
  default:
    return '\0';
  }
}

} // namespace

void json_writer::flush() {
  out_.append(staged_.data(), used_);
  used_ = 0;
}

char* json_writer::room(std::size_t size) {
  if (staged_.size() - used_ < size) flush();
  return staged_.data() + used_;
}

void json_writer::put_long(std::string_view text) {
  flush();
  if (text.size() > staged_.size() / 2)
    out_.append(text);
  else
    put(text);
}

void json_writer::write_signed(std::int64_t value) {
  if (value >= 0) return write_unsigned(static_cast<std::uint64_t>(value));
  char* const at = room(longest_number);
  *at = '-';
  used_ += static_cast<std::size_t>(write_decimal(at + 1, 0 - static_cast<std::uint64_t>(value)) - at);
}

void json_writer::write_unsigned(std::uint64_t value) {
  char* const at = room(longest_number);
  used_ += static_cast<std::size_t>(write_decimal(at, value) - at);
}

template <class Float> bool json_writer::write_float(Float value) {
  if (!std::isfinite(value)) return fail("neither NaN nor an infinity has a JSON form");
  char* const at = room(longest_number);
  used_ += static_cast<std::size_t>(std::to_chars(at, at + longest_number, value).ptr - at);
  return true;
}

bool json_writer::write_number(double value) { return write_float(value); }
bool json_writer::write_number(float value) { return write_float(value); }

void json_writer::put_escaped(char c) {
  put('\\');
  if (const char letter = short_escape(c)) return put(letter);
  constexpr std::string_view digits = "0123456789abcdef";
  put("u00");
  put(digits[static_cast<unsigned char>(c) >> 4]);
  put(digits[static_cast<unsigned char>(c) & 0xf]);
}

/// Copies and looks at eight characters at a time. False, and nothing is written: something needs a closer look.
bool json_writer::write_plain_text(std::string_view text) {
  constexpr std::size_t word_size = sizeof(std::uint64_t);
  if (staged_.size() - used_ < text.size() + 2 + word_size) return false;
  char* to = staged_.data() + used_;
  *to++ = '"';
  const char* from = text.data();
  std::size_t left = text.size();
  for (; left >= word_size; left -= word_size, from += word_size, to += word_size) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, word_size);
    if (json_specials(word) != 0) return false;
    std::memcpy(to, &word, word_size);
  }
  for (; left > 0; --left, ++from, ++to) {
    if (is_json_special(*from)) return false;
    *to = *from;
  }
  *to++ = '"';
  used_ = static_cast<std::size_t>(to - staged_.data());
  return true;
}

bool json_writer::write_text(std::string_view text) {
  if (write_plain_text(text)) [[likely]]
    return true;
  const char* at = text.data();
  const char* const end = at + text.size();
  put('"');
  for (const char* run = at;;) {
    at = skip_plain_json(at, end);
    if (at != end && static_cast<unsigned char>(*at) >= 0x80) {
      const auto size = utf8_sequence(at, end);
      if (size == 0) return fail("invalid UTF-8");
      at += size;
      continue;
    }
    put({run, at});
    if (at == end) break;
    put_escaped(*at);
    run = ++at;
  }
  put('"');
  return true;
}

bool json_writer::too_deep() { return fail("nested too deep"); }

bool json_writer::fail(const char* what) {
  what_ = what;
  return false;
}

bool json_writer::within(std::string_view member) {
  prepend_json_member(path_, member);
  return false;
}

bool json_writer::within(std::size_t index) {
  prepend_json_index(path_, index);
  return false;
}

error json_writer::failure() {
  out_.resize(start_);
  return {errc::encode, describe_json_failure(path_, what_)};
}

} // namespace millrace::detail
