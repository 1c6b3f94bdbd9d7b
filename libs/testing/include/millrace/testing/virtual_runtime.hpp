#pragma once

#include <millrace/error.hpp>
#include <millrace/runtime.hpp>
#include <millrace/task.hpp>
#include <millrace/timer_queue.hpp>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace::testing {

/// A runtime on a virtual clock, driven by the test's thread: nothing runs except inside `run`, `advance` and `drive`,
/// in a fixed order. Quiescent means computed, not guessed: nothing is queued and no bracketed outside work
/// (`external_begin`) is open. What waits for the clock waits for `advance`. The members of `runtime` may be called
/// from any thread, the others from the test's.
class virtual_runtime final : public runtime {
 public:
  static constexpr std::size_t default_steps = 1'000'000;

  /// `external_bound`: how long, on the real clock, to wait for outside work before `run` gives up.
  explicit virtual_runtime(std::chrono::milliseconds external_bound = std::chrono::seconds(10));

  void post(job& work) noexcept override;
  [[nodiscard]] time_point now() const noexcept override;
  void arm(timer& wake, time_point due) noexcept override;
  bool disarm(timer& wake) noexcept override;
  void cancel_waits() noexcept override;
  void external_begin() noexcept override;
  void external_end() noexcept override;
  void external_post(job& work) noexcept override;

  /// Asked after every job; its error ends `run`, `advance` or `drive`. An empty function asks nothing.
  void guard(std::function<result<void>()> check) { guard_ = std::move(check); }

  /// Runs everything that can run without the clock moving. An error (`errc::timeout`) names what does not end: a loop
  /// that feeds itself (more than `max_steps` jobs) or outside work that outlasts its bound.
  result<void> run(std::size_t max_steps = default_steps);
  /// Moves the clock by `d`, stopping at each timer that comes due, and runs what that wakes.
  result<void> advance(duration d);
  /// Runs until `done` holds; false at quiescence without it, and after `default_steps` jobs.
  bool run_until(const std::function<bool()>& done);

  /// Runs `work` to its end and returns its value. Moves the clock to the next timer whenever nothing else can run, so
  /// that bounded waits end. Throws what the task throws, and `unfinished_reaction` if it does not end; the task is
  /// then kept, suspended, as long as the runtime.
  template <class T> T drive(task<T> work) {
    auto driven = std::make_unique<driven_task<T>>(std::move(work));
    driven->work.start(*driven);
    if (auto ended = drive_until(driven->done); !ended) give_up(std::move(driven), std::move(ended).error());
    return driven->work.take();
  }

 private:
  struct driven : completion {
    driven() noexcept : completion([](completion& c) noexcept { static_cast<driven&>(c).done = true; }) {}
    driven(const driven&) = delete;
    driven& operator=(const driven&) = delete;
    virtual ~driven() = default;
    bool done = false;
  };
  template <class T> struct driven_task final : driven {
    explicit driven_task(task<T> t) noexcept : work(std::move(t)) {}
    task<T> work;
  };

  result<void> drive_until(const bool& done);
  [[noreturn]] void give_up(std::unique_ptr<driven> work, error why);
  void queue(job& work) noexcept;
  job* take_job(bool& open);
  [[nodiscard]] result<void> checked() const;
  [[nodiscard]] std::unexpected<error> still_outside() const;
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
  std::function<result<void>()> guard_;
  std::vector<std::unique_ptr<driven>> abandoned_;
};

} // namespace millrace::testing
