#include <millrace/codec/detail/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace millrace::detail {
namespace {

bool all_ascii(const char* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return (word & 0x8080808080808080U) == 0;
}

} // namespace

std::size_t utf8_sequence(const char* at, const char* end) noexcept {
  const auto byte = [at](std::size_t i) -> unsigned { return static_cast<unsigned char>(at[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || static_cast<std::size_t>(end - at) < size) return 0;
  // The second byte rules out the overlong, the surrogates and what is too large.
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i != size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

bool is_utf8(std::string_view text) noexcept {
  const char* at = text.data();
  for (const char* const end = at + text.size(); at != end;) {
    const std::size_t size = end - at >= 8 && all_ascii(at) ? 8 : utf8_sequence(at, end);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

} // namespace millrace::detail
