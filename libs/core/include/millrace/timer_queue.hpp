#pragma once

#include <millrace/runtime.hpp>

#include <optional>
#include <vector>

namespace millrace {

/// The armed timers of a runtime, earliest first; equal times in the order of arming. Not thread-safe: its runtime
/// locks.
class timer_queue {
 public:
  void arm(timer& t, time_point due);
  /// True: `t` was armed and is not any more.
  bool disarm(timer& t) noexcept;
  [[nodiscard]] std::optional<time_point> next_due() const noexcept;
  /// Takes the earliest timer that is due at `now`, or null.
  [[nodiscard]] timer* take_due(time_point now) noexcept;
  /// Takes a cancellable timer and marks it cancelled, or null.
  [[nodiscard]] timer* take_cancelled() noexcept;
  /// Marks a timer that is fired instead of being armed.
  static void mark_cancelled(timer& t) noexcept;
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }

 private:
  static bool before(const timer& a, const timer& b) noexcept;
  void place(std::size_t slot, timer* t) noexcept;
  void sift_up(std::size_t slot) noexcept;
  void sift_down(std::size_t slot) noexcept;

  std::vector<timer*> heap_;
  std::uint64_t order_ = 0;
};

} // namespace millrace
