#pragma once

#include <millrace/headers.hpp>

#include <string>

namespace millrace::testing::conformance {

/// Several headers, of mixed case, with values that a careless codec would break.
[[nodiscard]] header_map sample_headers();
/// Fails unless every header of `wanted` is in `seen`, with its value.
void expect_headers(const header_map& seen, const header_map& wanted);

/// Every byte there is, NUL first.
[[nodiscard]] std::string all_bytes();

} // namespace millrace::testing::conformance
