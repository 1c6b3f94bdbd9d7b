#pragma once

#include <millrace/codec/detail/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::amqp::detail {

/// One AMQP value as it stands in a message: the constructor and its bytes. Of a compound, `body` is what follows its
/// count. Of a described value, `described` is set and the rest is the value's own.
struct wire_value {
  std::uint8_t constructor = 0x40;
  bool described = false;
  std::uint64_t descriptor = 0; ///< 0: not a number that matters here
  std::uint32_t count = 0;      ///< of a list (elements) or map (keys and values)
  std::string_view body;

  [[nodiscard]] bool is_null() const noexcept { return constructor == 0x40; }
  [[nodiscard]] bool is_list() const noexcept;
  [[nodiscard]] bool is_map() const noexcept;
  [[nodiscard]] bool is_binary() const noexcept;
  [[nodiscard]] bool is_string() const noexcept;
  [[nodiscard]] bool is_symbol() const noexcept;
  /// An unsigned number of any width, or nothing.
  [[nodiscard]] std::optional<std::uint64_t> as_unsigned() const noexcept;
  [[nodiscard]] std::optional<bool> as_bool() const noexcept;
  /// The bytes of a string, symbol or binary; empty for anything else.
  [[nodiscard]] std::string_view as_bytes() const noexcept;
};

/// Reads values one after another. After malformed input `ok` is false and every value is null.
class value_reader {
 public:
  explicit value_reader(std::string_view input) noexcept : left_(input) {}
  [[nodiscard]] wire_value next() noexcept;
  [[nodiscard]] bool done() const noexcept { return left_.empty(); }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::string_view left() const noexcept { return left_; }

 private:
  [[nodiscard]] wire_value primitive(std::uint8_t constructor) noexcept;
  [[nodiscard]] wire_value compound(wire_value value, std::size_t width) noexcept;
  [[nodiscard]] std::string_view take(std::size_t n) noexcept;
  [[nodiscard]] std::uint64_t number(std::size_t width) noexcept;
  wire_value failed() noexcept;

  std::string_view left_;
  bool ok_ = true;
};

/// A scalar as header text: strings, symbols and binary as they are, numbers in decimal, a timestamp in milliseconds, a
/// uuid as hex. False: the value has no such form, and nothing was appended.
[[nodiscard]] bool append_text(std::string& out, const wire_value& value);

/// Big-endian, as everything on the wire.
[[nodiscard]] std::uint64_t big_endian(std::string_view bytes) noexcept;

using millrace::detail::is_utf8;

} // namespace millrace::amqp::detail
