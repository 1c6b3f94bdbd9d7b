#pragma once

#include <millrace/codec/detail/utf8.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace millrace::detail {

/// Bytes that end a run of plain text: the quote, the backslash, control characters and everything beyond ASCII.
inline constexpr auto json_special = [] {
  std::array<bool, 256> special{};
  for (std::size_t c = 0; c != 256; ++c)
    special[c] = c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
  return special;
}();

[[nodiscard]] inline bool is_json_special(char c) noexcept { return json_special[static_cast<unsigned char>(c)]; }

/// The high bit of each special byte of the word. Bits above the lowest one may be wrong.
[[nodiscard]] inline std::uint64_t json_specials(std::uint64_t word) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t high = 0x80 * ones;
  const auto quote = word ^ ('"' * ones);
  const auto backslash = word ^ ('\\' * ones);
  const auto control = (word - 0x20 * ones) & ~word;
  return (((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | control | word) & high;
}

/// The first special byte, or `end`.
[[nodiscard]] inline const char* skip_plain_json(const char* at, const char* end) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    for (auto left = static_cast<std::size_t>(end - at); left >= 8; left -= 8, at += 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      if (const auto found = json_specials(word)) return at + std::countr_zero(found) / 8;
    }
  }
  while (at != end && !is_json_special(*at))
    ++at;
  return at;
}

} // namespace millrace::detail
