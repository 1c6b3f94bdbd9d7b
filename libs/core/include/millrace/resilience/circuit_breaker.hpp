#pragma once

#include <millrace/middleware.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace millrace::resilience {

struct circuit_breaker_options {
  /// So many failures within `window` open the circuit. 0 counts as 1.
  std::uint32_t failures = 5;
  duration window = std::chrono::seconds(10);
  /// How long the handler is left alone then.
  duration open_for = std::chrono::seconds(30);
  /// After that so many messages are let through as probes, at most; if all succeed the circuit closes, the first that
  /// fails opens it again. 0 counts as 1.
  std::uint32_t half_open_probes = 1;
};

enum class circuit : std::uint8_t { closed, open, half_open };

class circuit_machine;

/// Leaves a handler alone that fails again and again. A failure is an exception, or an answer of `retry` or
/// `retry_after`; a payload that does not decode, and a wait that the stopping service gave up, count as nothing.
///
/// While the circuit is open a message is answered `retry_after` the time that is left, without calling the handler.
/// Such an answer spends one of its `max_attempts`. In the half-open state what finds no free probe is answered
/// `retry_after` `open_for`, or a second if that is shorter. The answer of a handler that was called before the circuit
/// changed counts as nothing.
///
/// A value; copies share one circuit, so several registrations can use one for what they all depend on. Thread-safe.
/// Costs a coroutine and two short locks a message; allocates once, when it is made, 8 bytes for each of `failures`.
class circuit_breaker final : public middleware {
 public:
  explicit circuit_breaker(circuit_breaker_options options = {});

  /// As of the last message: the open circuit turns half-open when a message comes after `open_for`.
  [[nodiscard]] circuit state() const noexcept;
  /// How often it opened.
  [[nodiscard]] std::uint64_t times_opened() const noexcept;
  /// Called after each change, on the thread of the message that caused it; changes of other threads may interleave.
  /// Set before the service starts, and before the breaker is copied. It must not throw.
  circuit_breaker& on_change(std::function<void(circuit)> tell);

  task<outcome> around(context& ctx, next_handler next) override;

 private:
  std::shared_ptr<circuit_machine> machine_;
  std::function<void(circuit)> tell_;
};

} // namespace millrace::resilience
