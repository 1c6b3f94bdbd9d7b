#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::detail {

/// Paths to where in a document an operation failed, as `lines[2].qty`: built from the inside out, only after a
/// failure.
[[gnu::cold]] void prepend_json_member(std::string& path, std::string_view member);
[[gnu::cold]] void prepend_json_index(std::string& path, std::size_t index);
/// `what`, with the path in front of it if there is one.
[[gnu::cold]] [[nodiscard]] std::string describe_json_failure(std::string_view path, std::string_view what);

} // namespace millrace::detail
