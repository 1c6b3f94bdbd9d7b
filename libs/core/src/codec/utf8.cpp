#include <millrace/codec/detail/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace millrace::detail {
namespace {

bool all_ascii(const unsigned char* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return (word & 0x8080808080808080U) == 0;
}

/// The length of the sequence at `at`, or 0 if it is none.
std::size_t sequence(const unsigned char* at, std::size_t left) noexcept {
  const unsigned first = at[0];
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || left < size) return 0;
  // The second byte rules out the overlong, the surrogates and what is too large.
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (at[1] < low || at[1] > high) return 0;
  for (std::size_t i = 2; i != size; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  return size;
}

} // namespace

bool is_utf8(std::string_view text) noexcept {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t left = text.size(); left != 0;) {
    const std::size_t size = left >= 8 && all_ascii(at) ? 8 : sequence(at, left);
    if (size == 0) return false;
    at += size;
    left -= size;
  }
  return true;
}

} // namespace millrace::detail
