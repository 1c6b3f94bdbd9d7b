#include "protocol/header_check.hpp"

#include <millrace/nats/errors.hpp>

namespace millrace::nats::detail {
namespace {

bool is_name(std::string_view name) noexcept {
  if (name.empty()) return false;
  for (const char c : name)
    if (c <= ' ' || c > '~' || c == ':') return false;
  return true;
}

/// The length of the well-formed UTF-8 sequence at the front, or 0.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : (lead == '\t' ? 1 : 0);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0U) != 0x80) return 0;
  const bool bad = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xed && at(1) > 0x9f) || (lead == 0xf0 && at(1) < 0x90) ||
                   (lead == 0xf4 && at(1) > 0x8f);
  return bad ? 0 : length;
}

bool is_text(std::string_view value) noexcept {
  while (!value.empty()) {
    const std::size_t length = sequence_length(value);
    if (length == 0) return false;
    value.remove_prefix(length);
  }
  return true;
}

/// The name with what cannot be shown replaced.
std::string shown(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

} // namespace

result<void> check_header(std::string_view name, std::string_view value) {
  if (!is_name(name)) return fail(errc::publish, "header '" + shown(name) + "': not a header name");
  if (!is_text(value))
    return fail(errc::publish, "header '" + std::string(name) + "': the value is not one line of text");
  return {};
}

result<void> check_headers(const header_map& headers) {
  for (const header_map::entry header : headers)
    if (result<void> checked = check_header(header.name, header.value); !checked) return checked;
  return {};
}

} // namespace millrace::nats::detail
