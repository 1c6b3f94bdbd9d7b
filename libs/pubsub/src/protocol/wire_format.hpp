#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::pubsub::detail {

/// Protobuf's wire format, as far as the messages of the hot path need it: varints and length-delimited fields.
enum class wire_type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  std::size_t n = 1;
  for (; value >= 0x80; value >>= 7)
    ++n;
  return n;
}
/// Of a field number below 16: tag, length and content.
[[nodiscard]] constexpr std::size_t bytes_field_size(std::size_t length) noexcept {
  return 1 + varint_size(length) + length;
}

void put_varint(std::string& to, std::uint64_t value);
void put_bytes(std::string& to, std::uint32_t field, std::string_view content);
/// Zero is the default and is not written.
void put_number(std::string& to, std::uint32_t field, std::uint64_t value);

/// One field of a message: its number, and a number or a view of its content.
struct wire_field {
  std::uint32_t number = 0;
  wire_type type = wire_type::varint;
  std::uint64_t value = 0;
  std::string_view content;
};

/// Reads the fields of one message. Malformed input ends it with `failed`; no byte outside the input is read.
class wire_reader {
 public:
  explicit wire_reader(std::string_view input) noexcept : at_(input.data()), end_(at_ + input.size()) {}
  /// False at the end.
  [[nodiscard]] bool next(wire_field& field) noexcept;
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  [[nodiscard]] bool read_varint(std::uint64_t& value) noexcept;
  [[nodiscard]] bool skip(std::size_t n, wire_field& field) noexcept;
  [[nodiscard]] bool fail() noexcept;

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

} // namespace millrace::pubsub::detail
