#pragma once

#include <string_view>

namespace millrace::detail {

/// Whether `text` is UTF-8: neither overlong, nor a surrogate, nor beyond U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

} // namespace millrace::detail
