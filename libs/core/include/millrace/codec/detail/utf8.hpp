#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::detail {

/// The size of the UTF-8 sequence at `at`, which is before `end`, or 0 if there is none: overlong forms, surrogates and
/// what is beyond U+10FFFF are refused (RFC 3629).
[[nodiscard]] std::size_t utf8_sequence(const char* at, const char* end) noexcept;

/// Whether `text` is UTF-8, by the same rules.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

} // namespace millrace::detail
