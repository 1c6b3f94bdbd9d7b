#pragma once

#include <string_view>

namespace millrace::nats::detail::in_process {

/// Whether every subject that `narrow` selects is one that `wide` selects.
[[nodiscard]] bool covers(std::string_view wide, std::string_view narrow) noexcept;
/// Whether some subject is selected by both.
[[nodiscard]] bool overlap(std::string_view a, std::string_view b) noexcept;

} // namespace millrace::nats::detail::in_process
