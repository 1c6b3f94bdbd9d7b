#pragma once

#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

/// Whether a topic exchange takes `key` for `pattern`: words between dots, `*` is one of them, `#` any number.
[[nodiscard]] bool topic_matches(std::string_view pattern, std::string_view key) noexcept;

/// Whether a headers exchange takes a message with these headers for a binding with these arguments; both are tables.
[[nodiscard]] bool headers_match(std::string_view binding, std::string_view headers) noexcept;

} // namespace millrace::rabbitmq::detail::in_process
