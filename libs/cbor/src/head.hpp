#pragma once

#include <millrace/cbor/detail/reader.hpp>

namespace millrace::detail {

enum class head_status { complete, truncated, malformed };

/// Takes the head at the start of `bytes` apart. `size` is its length; of a string of definite length, with its bytes.
[[nodiscard]] head_status parse_head(bytes_view bytes, cbor_head& head, std::size_t& size) noexcept;

} // namespace millrace::detail
