#pragma once

#include <millrace/middleware.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

/// What keeps a service well when what it depends on is not: added with `use`, on the service's clock.
namespace millrace::resilience {

/// How long to wait before each attempt. A value; copies share the generator of the jitter. Thread-safe; a call
/// allocates nothing.
class backoff {
 public:
  /// `first`, then `factor` times as long each time, at most `cap`. A factor below 1 counts as 1.
  [[nodiscard]] static backoff exponential(duration first, duration cap, double factor = 2.0);
  /// These delays in turn; the last one stands for all further attempts. An empty list: no delay.
  [[nodiscard]] static backoff fixed(std::vector<duration> delays);

  /// Anything from zero to the delay, evenly: spreads a herd the most. The same seed gives the same sequence.
  [[nodiscard]] backoff full_jitter(std::uint64_t seed) const;
  /// Half the delay, and anything up to the other half.
  [[nodiscard]] backoff equal_jitter(std::uint64_t seed) const;
  /// Seeded by the system.
  [[nodiscard]] backoff full_jitter() const;
  [[nodiscard]] backoff equal_jitter() const;

  /// What to wait after the attempt of this number, the first is 1: `retry_after(schedule.delay(ctx.attempt()))`.
  [[nodiscard]] duration delay(std::uint32_t attempt) const noexcept;

 private:
  enum class jitter : std::uint8_t { none, full, equal };
  backoff() = default;
  [[nodiscard]] backoff with(jitter kind, std::uint64_t seed) const;
  [[nodiscard]] duration plain(std::uint32_t attempt) const noexcept;
  [[nodiscard]] duration up_to(duration bound) const noexcept;

  std::vector<duration> fixed_;
  duration first_{};
  duration cap_{};
  double factor_ = 1.0;
  jitter jitter_ = jitter::none;
  std::shared_ptr<std::atomic<std::uint64_t>> generator_;
};

/// Turns a plain `retry()` into `retry_after` by a schedule; every other answer passes. What the failure policies of a
/// registration answer is not seen here: for exceptions there is `retry_exceptions`. Continuations are kept; those
/// registered for a `retry` alone do not run.
class retry_with final : public interceptor {
 public:
  explicit retry_with(backoff schedule) : schedule_(std::move(schedule)) {}
  void after(context& ctx, outcome& answer) override;

 private:
  backoff schedule_;
};

/// Answers an exception derived from `std::exception` with `retry_after` by a schedule, and logs its text; the
/// registration's policy does not see it. Undecodable payloads, and waits that the stopping service gave up, pass.
class retry_exceptions final : public middleware {
 public:
  explicit retry_exceptions(backoff schedule) : schedule_(std::move(schedule)) {}
  task<outcome> around(context& ctx, next_handler next) override;

 private:
  backoff schedule_;
};

} // namespace millrace::resilience
