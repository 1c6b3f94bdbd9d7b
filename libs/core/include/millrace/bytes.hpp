#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace millrace {

/// A read-only view of a payload. Whoever lends it says how long it lives; in a handler it is valid until the handler
/// ends.
using bytes_view = std::span<const std::byte>;

/// Growable output of an encoder. Kept and reused by publishers, so that steady-state encoding does not allocate.
using byte_buffer = std::string;

/// The bytes of `text`, without copying.
[[nodiscard]] inline bytes_view as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// The bytes as characters, without copying and without checking their encoding.
[[nodiscard]] inline std::string_view as_text(bytes_view bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace millrace
