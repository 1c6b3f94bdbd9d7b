#include "json_scan.hpp"

namespace millrace::detail {
namespace {

struct utf8_lead {
  std::size_t size;
  unsigned least;
  unsigned most;
};

/// The bounds of the second byte tell overlong forms, surrogates and what is beyond U+10FFFF.
utf8_lead classify(unsigned char lead) noexcept {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xc2) return {0, 0, 0};
  if (lead < 0xe0) return {2, 0x80, 0xbf};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead < 0xf0) return {3, 0x80, 0xbf};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead < 0xf4) return {4, 0x80, 0xbf};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

} // namespace

std::size_t utf8_sequence(const char* at, const char* end) noexcept {
  const auto lead = classify(static_cast<unsigned char>(*at));
  if (lead.size < 2) return lead.size;
  if (static_cast<std::size_t>(end - at) < lead.size) return 0;
  const auto second = static_cast<unsigned char>(at[1]);
  if (second < lead.least || second > lead.most) return 0;
  for (std::size_t i = 2; i != lead.size; ++i) {
    if ((static_cast<unsigned char>(at[i]) & 0xc0) != 0x80) return 0;
  }
  return lead.size;
}

} // namespace millrace::detail
