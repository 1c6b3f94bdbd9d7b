#pragma once

#include <millrace/resilience/circuit_breaker.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace millrace::resilience {

/// The states of a circuit. No clock of its own; thread-safe.
class circuit_machine {
 public:
  explicit circuit_machine(circuit_breaker_options options);

  /// What a message gets, and what it gives back at its end.
  struct admission {
    bool granted = false;
    duration wait{};         ///< if it is not granted
    std::uint64_t epoch = 0; ///< the state it was granted in
    std::optional<circuit> changed;
  };
  enum class ending : std::uint8_t { success, failure, nothing };

  [[nodiscard]] admission admit(time_point now);
  /// Answers the new state, if it changed.
  std::optional<circuit> ended(std::uint64_t epoch, ending how, time_point now);

  [[nodiscard]] circuit state() const;
  [[nodiscard]] std::uint64_t times_opened() const;

 private:
  circuit change_to(circuit to);
  [[nodiscard]] bool too_many(time_point now);
  std::optional<circuit> probe_ended(ending how, time_point now);
  circuit open(time_point now);

  const circuit_breaker_options options_;
  mutable std::mutex mutex_;
  circuit state_ = circuit::closed;
  std::uint64_t epoch_ = 0;
  std::uint64_t times_opened_ = 0;
  time_point open_until_{};
  std::uint32_t probing_ = 0;
  std::uint32_t proved_ = 0;
  std::vector<time_point> failures_; ///< the last ones, a ring
  std::size_t recorded_ = 0;
};

} // namespace millrace::resilience
