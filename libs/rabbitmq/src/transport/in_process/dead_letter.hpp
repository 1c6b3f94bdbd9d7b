#pragma once

#include "transport/in_process/queue.hpp"

#include <cstdint>
#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

/// The message as it goes to the dead-letter exchange of `from`: with one more entry in `x-death`, and without an
/// expiration.
[[nodiscard]] message make_dead_letter(const queue_settings& from, const queued& m, std::string_view reason,
                                       std::int64_t unix_seconds);

/// Whether `m` was in that queue before and has gone round since without anybody rejecting it; the server drops it
/// then.
[[nodiscard]] bool goes_in_circles(const message& m, std::string_view queue) noexcept;

} // namespace millrace::rabbitmq::detail::in_process
