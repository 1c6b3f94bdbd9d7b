#pragma once

#include <string_view>

namespace millrace::nats::detail {

enum class subject_fault { none, empty, whitespace, empty_token, wildcard, misplaced_wildcard };

/// Why `subject` is no address of one subject. Only a token that is exactly `*` or `>` is a wildcard; any other
/// character is ordinary.
[[nodiscard]] subject_fault check_subject(std::string_view subject) noexcept;
/// Why `pattern` is neither a subject nor a pattern: `*` is one token, `>` the rest and only last.
[[nodiscard]] subject_fault check_pattern(std::string_view pattern) noexcept;
[[nodiscard]] std::string_view describe(subject_fault fault) noexcept;

[[nodiscard]] bool has_whitespace(std::string_view text) noexcept;
/// Streams and consumers: not empty, no whitespace and none of `. * > / \`.
[[nodiscard]] bool is_resource_name(std::string_view name) noexcept;
/// Whether `pattern` selects `subject`. Both are valid.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view subject) noexcept;

} // namespace millrace::nats::detail
