#pragma once

#include <millrace/middleware.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace millrace::resilience {

/// Lets `per_second` messages on to the handler, after a pause up to `burst` of them at once; the others wait for their
/// turn, on the service's clock, in the order they came. What waits occupies its worker and its place in the broker's
/// window, so that the broker holds the rest back; a broker that takes unsettled messages back after a while
/// (`ack_wait`, a lease) must be patient for longer than a turn can take.
///
/// A stopping service gives the wait up: the message stays unsettled. A batch is one turn. A value; copies share one
/// bucket. Thread-safe, without locks; one allocation, when it is made.
class rate_limit final : public middleware {
 public:
  /// Throws `std::invalid_argument` unless `per_second` is above zero and `burst` is at least 1.
  rate_limit(double per_second, std::uint32_t burst);

  task<outcome> around(context& ctx, next_handler next) override;

 private:
  [[nodiscard]] duration take(time_point now) noexcept;
  std::shared_ptr<std::atomic<std::int64_t>> next_; ///< when the next turn is, in ns of the clock, were there no burst
  std::int64_t interval_;
  std::int64_t allowance_;
};

} // namespace millrace::resilience
