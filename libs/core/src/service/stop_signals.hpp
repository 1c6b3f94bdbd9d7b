#pragma once

#include <atomic>

namespace millrace {

/// Catches SIGINT and SIGTERM while it lives and lets one thread sleep until something happens. One instance a process.
class stop_signals {
 public:
  stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals();

  /// Blocks until a signal came or `notify` was called since the last `wait`.
  void wait() const noexcept;
  /// Wakes `wait`; from any thread.
  void notify() const noexcept;
  [[nodiscard]] int count() const noexcept;
  /// The number of the last signal.
  [[nodiscard]] int last() const noexcept;

 private:
  struct handlers;
  int wake_fd_;
  handlers* old_;
};

} // namespace millrace
