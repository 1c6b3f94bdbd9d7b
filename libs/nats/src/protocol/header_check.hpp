#pragma once

#include <millrace/error.hpp>
#include <millrace/headers.hpp>

#include <cstddef>
#include <string_view>

namespace millrace::nats::detail {

/// A header that the protocol can carry: the name is not empty, printable ASCII without ':', the value is text (UTF-8)
/// without control characters but tab. Anything else is `errc::publish` with the name.
[[nodiscard]] result<void> check_header(std::string_view name, std::string_view value);
[[nodiscard]] result<void> check_headers(const header_map& headers);

/// The bytes of a header block on the wire: they count towards the payload limit.
inline constexpr std::size_t header_block_size = sizeof("NATS/1.0\r\n\r\n") - 1;
[[nodiscard]] inline std::size_t header_size(std::string_view name, std::string_view value) noexcept {
  return name.size() + 2 + value.size() + 2;
}

} // namespace millrace::nats::detail
