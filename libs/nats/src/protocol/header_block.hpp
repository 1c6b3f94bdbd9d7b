#pragma once

#include <millrace/headers.hpp>

#include <string_view>

namespace millrace::nats::detail {

/// Reads `NATS/1.0[ status[ description]]\r\n(name: value\r\n)*\r\n`. The inline status becomes the headers `Status`
/// and `Description`, as client libraries show it. The first value of a repeated name stands. What is malformed is
/// skipped.
void parse_header_block(std::string_view block, header_map& into);

/// One value, without building a map; empty if it is not there.
[[nodiscard]] std::string_view find_in_header_block(std::string_view block, std::string_view name) noexcept;

} // namespace millrace::nats::detail
