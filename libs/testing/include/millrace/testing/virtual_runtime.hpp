#pragma once

#include <millrace/error.hpp>
#include <millrace/runtime.hpp>
#include <millrace/task.hpp>
#include <millrace/timer_queue.hpp>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace millrace::testing {

/// A runtime on a virtual clock, driven by the test's thread: nothing runs except inside `run` and `advance`, in a fixed order.
/// Quiescent means computed, not guessed: nothing is queued and no bracketed outside work (`external_begin`) is open. What waits for
/// the clock waits for `advance`.
class virtual_runtime final : public runtime {
 public:
  /// `external_bound`: how long, on the real clock, to wait for outside work before `run` gives up.
  explicit virtual_runtime(std::chrono::milliseconds external_bound = std::chrono::seconds(10));

  void post(job& work) noexcept override;
  [[nodiscard]] time_point now() const noexcept override;
  void arm(timer& wake, time_point due) noexcept override;
  bool disarm(timer& wake) noexcept override;
  void cancel_waits() noexcept override;
  void external_begin() noexcept override;
  void external_end() noexcept override;

  /// Runs everything that can run without the clock moving. An error names what does not end: a loop that feeds itself
  /// (more than `max_steps` jobs) or outside work that outlasts its bound.
  result<void> run(std::size_t max_steps = 1'000'000);
  /// Moves the clock by `d`, stopping at each timer that comes due, and runs what that wakes.
  result<void> advance(duration d);
  /// Runs until `done` holds; false at quiescence without it.
  bool run_until(const std::function<bool()>& done);

  /// Runs `work` to its end and returns its value. Moves the clock to the next timer whenever nothing else can run, so that
  /// bounded waits end.
  template <class T> T drive(task<T> work) {
    drive_to_end(work);
    return work.take();
  }

 private:
  template <class T> void drive_to_end(task<T>& work) {
    struct flag : completion {
      flag() : completion([](completion& c) noexcept { static_cast<flag&>(c).set = true; }) {}
      bool set = false;
    } done;
    work.start(done);
    drive_until(done.set);
  }
  void drive_until(const bool& done);
  job* take_job();
  bool step_clock(time_point limit);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  job* first_ = nullptr;
  job* last_ = nullptr;
  timer_queue timers_;
  time_point now_{std::chrono::hours(1)};
  std::size_t external_ = 0;
  std::chrono::milliseconds external_bound_;
  bool cancelled_ = false;
};

} // namespace millrace::testing
