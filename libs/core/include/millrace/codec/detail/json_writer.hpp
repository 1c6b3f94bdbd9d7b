#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/detail/json_path.hpp>
#include <millrace/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace millrace::detail {

/// Appends one JSON document to a buffer, in pieces of up to `sizeof(staged_)`. Writers answer false after a failure.
class json_writer {
 public:
  explicit json_writer(byte_buffer& out) noexcept : out_(out), start_(out.size()) {}

  void put(char c) {
    if (used_ == staged_.size()) flush();
    staged_[used_++] = c;
  }
  void put(std::string_view text) {
    if (text.size() > staged_.size() - used_) [[unlikely]]
      return put_long(text);
    std::memcpy(staged_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }

  void write_bool(bool value) { put(value ? std::string_view("true") : std::string_view("false")); }
  template <std::integral Integer> void write_integer(Integer value) {
    if (value >= 0 && value < 10) return put(static_cast<char>('0' + value)); // counts and flags mostly are
    if constexpr (std::signed_integral<Integer>)
      write_signed(value);
    else
      write_unsigned(value);
  }
  bool write_number(double value);
  bool write_number(float value);
  bool write_text(std::string_view text);

  bool open(char opening) {
    if (++depth_ > depth_limit) return too_deep();
    put(opening);
    return true;
  }
  /// In the place of the comma after the last item, if there is one.
  void close(char closing) {
    --depth_;
    if (used_ != 0 && staged_[used_ - 1] == ',') --used_;
    put(closing);
  }

  void finish() { flush(); }

  [[gnu::cold]] bool fail(const char* what);
  [[gnu::cold]] bool within(std::string_view member);
  [[gnu::cold]] bool within(std::size_t index);
  /// Takes back what was appended.
  [[gnu::cold]] [[nodiscard]] error failure();

 private:
  static constexpr unsigned depth_limit = 64; // what a reader accepts

  void flush();
  void put_long(std::string_view text);
  char* room(std::size_t size);
  void write_signed(std::int64_t value);
  void write_unsigned(std::uint64_t value);
  template <class Float> bool write_float(Float value);
  bool write_plain_text(std::string_view text);
  void put_escaped(char c);
  [[gnu::cold]] bool too_deep();

  byte_buffer& out_;
  std::size_t start_;
  std::size_t used_ = 0;
  unsigned depth_ = 0;
  const char* what_ = nullptr;
  std::string path_;
  std::array<char, 512> staged_; // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
};

} // namespace millrace::detail
