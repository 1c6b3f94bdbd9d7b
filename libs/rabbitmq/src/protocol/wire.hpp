#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail {

inline constexpr std::size_t most_short = 255; ///< bytes of an AMQP short string

/// Appends AMQP's data types, big-endian, to a buffer. Short strings must have been checked to fit.
class writer {
 public:
  explicit writer(std::string& out) noexcept : out_(out) {}
  void u8(std::uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void u16(std::uint16_t v) { number<2>(v); }
  void u32(std::uint32_t v) { number<4>(v); }
  void u64(std::uint64_t v) { number<8>(v); }
  void short_string(std::string_view text) {
    u8(static_cast<std::uint8_t>(text.size()));
    out_.append(text);
  }
  void long_string(std::string_view text) {
    u32(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
  }
  /// Leaves room for a length and answers where.
  [[nodiscard]] std::size_t begin_length() {
    const std::size_t at = out_.size();
    u32(0);
    return at;
  }
  void end_length(std::size_t at) noexcept {
    const std::size_t length = out_.size() - at - 4;
    for (std::size_t i = 0; i < 4; ++i)
      out_[at + i] = static_cast<char>(length >> (8 * (3 - i)));
  }
  [[nodiscard]] std::string& buffer() noexcept { return out_; }

 private:
  template <int N> void number(std::uint64_t v) {
    char bytes[N];
    for (int i = 0; i < N; ++i)
      bytes[i] = static_cast<char>(v >> (8 * (N - 1 - i)));
    out_.append(bytes, N);
  }
  std::string& out_;
};

/// Reads AMQP's data types from the peer's bytes. Past the end it answers zeros and empty views, and `ok` is false from
/// then on.
class reader {
 public:
  explicit reader(std::string_view bytes) noexcept : left_(bytes) {}
  [[nodiscard]] std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(number<1>()); }
  [[nodiscard]] std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(number<2>()); }
  [[nodiscard]] std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(number<4>()); }
  [[nodiscard]] std::uint64_t u64() noexcept { return number<8>(); }
  [[nodiscard]] std::string_view short_string() noexcept { return take(u8()); }
  [[nodiscard]] std::string_view long_string() noexcept { return take(u32()); }
  /// The bytes of a table, without its length.
  [[nodiscard]] std::string_view table() noexcept { return take(u32()); }
  [[nodiscard]] std::string_view take(std::size_t n) noexcept {
    if (n > left_.size()) return fail();
    const std::string_view taken = left_.substr(0, n);
    left_.remove_prefix(n);
    return taken;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::string_view rest() const noexcept { return left_; }

 private:
  std::string_view fail() noexcept {
    ok_ = false;
    left_ = {};
    return {};
  }
  template <int N> std::uint64_t number() noexcept {
    if (left_.size() < N) return fail(), 0;
    std::uint64_t v = 0;
    for (int i = 0; i < N; ++i)
      v = v << 8 | static_cast<unsigned char>(left_[static_cast<std::size_t>(i)]);
    left_.remove_prefix(N);
    return v;
  }
  std::string_view left_;
  bool ok_ = true;
};

} // namespace millrace::rabbitmq::detail
