#pragma once

#include <valgrind/callgrind.h>

#include <cstddef>
#include <semaphore>

namespace bench_cost {

/// One round of messages through the handler. The handler is held in the first message while the queue is filled, and
/// callgrind counts from there to the last message.
class round {
 public:
  void begin(std::size_t messages, bool measure) noexcept {
    left_ = total_ = messages;
    measured_ = measure;
  }
  void open() noexcept { gate_.release(); }
  void wait() noexcept { over_.acquire(); }
  /// In the handler, for one message or for a batch.
  void message(std::size_t count = 1) noexcept {
    if (left_ == total_) [[unlikely]] {
      gate_.acquire();
      if (measured_) CALLGRIND_START_INSTRUMENTATION;
    }
    left_ -= count;
    if (left_ == 0) [[unlikely]] {
      if (measured_) CALLGRIND_STOP_INSTRUMENTATION;
      over_.release();
    }
  }

 private:
  bool measured_ = false;
  std::size_t total_ = 0;
  std::size_t left_ = 0;
  std::binary_semaphore gate_{0};
  std::binary_semaphore over_{0};
};

} // namespace bench_cost
