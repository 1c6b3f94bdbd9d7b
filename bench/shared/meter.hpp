#pragma once

#include "moment.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <semaphore>

namespace bench {

/// CPU time of this process, all its threads, and wall time, from the first message to the last.
class meter {
 public:
  explicit meter(std::size_t messages) noexcept : messages_(messages) {}
  void begin() noexcept { start_ = moment::now(); }
  void end() noexcept { end_ = moment::now(); }
  /// In the handler; `value` is what was read of the message, such as its size. True: it was the last one.
  bool message(std::uint64_t value) noexcept {
    sum_ += value;
    if (seen_ == 0) [[unlikely]]
      begin();
    if (++seen_ != messages_) [[likely]]
      return false;
    end();
    over_.release();
    return true;
  }
  [[nodiscard]] std::size_t seen() const noexcept { return seen_; }
  [[nodiscard]] bool over() const noexcept { return seen_ >= messages_; }
  void wait() noexcept { over_.acquire(); }
  /// For bench/runner, which reads it from standard error.
  void report() const {
    std::fprintf(stderr, "cpu=%.6f wall=%.6f messages=%zu sum=%llu\n", end_.cpu - start_.cpu, end_.wall - start_.wall,
                 messages_, static_cast<unsigned long long>(sum_));
  }

 private:
  std::size_t messages_;
  std::size_t seen_ = 0;
  std::uint64_t sum_ = 0;
  moment start_;
  moment end_;
  std::binary_semaphore over_{0};
};

} // namespace bench
