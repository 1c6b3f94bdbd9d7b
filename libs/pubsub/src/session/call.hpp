#pragma once

#include "transport/transport.hpp"

#include <millrace/task.hpp>

namespace millrace::pubsub::detail {

/// Sends one call, and again after a growing pause while its failure is worth another attempt and `due` is not over.
[[nodiscard]] task<call_answer> call_until(transport& wire, runtime& clock, method which, std::string body,
                                           std::string routing, time_point due, bool (*retries)(status_code) noexcept);

/// The pause before the attempt after the `n`th failure in a row, from 1: 100 ms doubling to 30 s, a random half of it.
[[nodiscard]] duration pause_after(unsigned failures) noexcept;

} // namespace millrace::pubsub::detail
