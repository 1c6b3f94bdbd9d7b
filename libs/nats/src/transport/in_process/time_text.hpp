#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::nats::detail::in_process {

/// RFC 3339, as the JetStream API writes times, to and from Unix nanoseconds.
[[nodiscard]] std::string format_time(std::int64_t unix_nanoseconds);
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text) noexcept;

} // namespace millrace::nats::detail::in_process
