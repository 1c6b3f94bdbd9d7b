#pragma once

#include <millrace/msgpack/detail/reader.hpp>

namespace millrace::detail {

enum class msgpack_status { complete, truncated, malformed };

/// Takes the head at the start of `bytes` apart. `size` is its length; of text, bytes and extensions, with theirs.
[[nodiscard]] msgpack_status parse_head(bytes_view bytes, msgpack_head& head, std::size_t& size) noexcept;

} // namespace millrace::detail
