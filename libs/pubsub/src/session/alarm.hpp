#pragma once

#include <millrace/runtime.hpp>

#include <functional>
#include <memory>

namespace millrace::pubsub::detail {

/// Rings once or more at or after each time that it was set to, on the thread of the runtime's timers: whoever is rung
/// looks at his own state. Thread-safe. Its destruction waits for a ring on another thread, so it is a last member and
/// no lock that the ring takes may be held then.
class alarm {
 public:
  alarm(runtime& rt, std::function<void()> ring);
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;
  ~alarm();

  /// Unless it is set to that time or an earlier one.
  void set(time_point due);
  /// After it returned, nothing rings, except the call that it may be in itself.
  void cancel() noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace millrace::pubsub::detail
