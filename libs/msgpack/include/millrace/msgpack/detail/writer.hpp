#pragma once

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::detail {

/// Appends one MessagePack document to a buffer. Writers answer false after a failure.
class msgpack_writer {
 public:
  explicit msgpack_writer(byte_buffer& out) noexcept : out_(out), start_(out.size()) {}

  void write_null();
  void write_bool(bool value);
  template <std::integral Integer> void write_integer(Integer value) {
    if constexpr (std::signed_integral<Integer>) {
      if (value < 0) return write_negative(value);
    }
    write_unsigned(static_cast<std::uint64_t>(value));
  }
  void write_number(double value);
  void write_number(float value);
  bool write_text(std::string_view text);

  /// `count` elements, or pairs, and then `close` must follow.
  bool open_array(std::size_t count);
  bool open_map(std::size_t count);
  void close() noexcept { --depth_; }

  [[gnu::cold]] bool fail(const char* what);
  [[gnu::cold]] bool within(std::string_view member);
  [[gnu::cold]] bool within(std::size_t index);
  /// Takes back what was appended.
  [[gnu::cold]] [[nodiscard]] error failure();

 private:
  void write_unsigned(std::uint64_t value);
  void write_negative(std::int64_t value);
  bool fits(std::size_t size);
  bool enter(std::size_t count);

  byte_buffer& out_;
  std::size_t start_;
  unsigned depth_ = 0;
  const char* what_ = nullptr;
  std::string path_;
};

} // namespace millrace::detail
