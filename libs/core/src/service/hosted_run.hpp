#pragma once

#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>
#include <millrace/service_run.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>

namespace millrace {

/// A run of a service on threads of its own.
class hosted_run {
 public:
  hosted_run(std::shared_ptr<service_core> core, unsigned threads)
      : rt_(threads), run_(std::move(core), rt_), guests_(rt_) {}
  [[nodiscard]] service_run& run() noexcept { return run_; }
  [[nodiscard]] pool_runtime& rt() noexcept { return rt_; }

  /// Before the start: `wait_for_stop` hears of it without the help of the runtime, whose threads may all be held up.
  void watch_for_stop();
  /// Blocks until the service wants to stop by itself.
  void wait_for_stop();
  /// The same, or until `until` ended, whichever is first.
  void wait_for_stop_or(task<void> until);
  /// After the shutdown: ends what `wait_for_stop_or` did not wait for, as far as its waits can be given up.
  void give_up_guests();

  /// Ends the threads and destroys the run. A handler that does not return keeps what it uses: it is left behind until
  /// the process ends.
  static void release(std::unique_ptr<hosted_run> run) noexcept;

 private:
  void wake() noexcept;
  task<void> then_wake(task<void> work);

  pool_runtime rt_;
  service_run run_;
  task_group guests_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
};

} // namespace millrace
