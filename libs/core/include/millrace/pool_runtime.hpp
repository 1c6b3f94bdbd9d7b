#pragma once

#include <millrace/runtime.hpp>

#include <memory>

namespace millrace {

/// The production runtime: a pool of threads for handlers and one thread for timers, on the steady clock.
/// `threads == 0`: one thread resumes what was suspended, and brokers may run handlers on their own I/O threads.
class pool_runtime final : public runtime {
 public:
  explicit pool_runtime(unsigned threads);
  ~pool_runtime() override;

  void post(job& work) noexcept override;
  [[nodiscard]] time_point now() const noexcept override;
  void arm(timer& wake, time_point due) noexcept override;
  bool disarm(timer& wake) noexcept override;
  void cancel_waits() noexcept override;
  [[nodiscard]] bool dispatches_inline() const noexcept override;

  /// From `after` on, threads that are all held up in user code do not hold up what is queued: when nothing moves, one
  /// more thread takes it. For a stopping service, whose own steps run here too.
  void keep_moving(duration after) noexcept;

  /// Ends the threads after what is queued has run. A thread that is still in user code after `bound` is left behind
  /// (detached, its state kept alive); false then.
  bool stop(duration bound) noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace millrace
