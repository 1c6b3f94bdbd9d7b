#pragma once

#include <millrace/runtime.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace millrace::amqp::detail {

/// Pauses between attempts: each twice the one before, up to a bound, and shortened at random by up to a half.
class pauses {
 public:
  pauses(duration first, duration most)
      : first_(std::max(first, duration(1))), most_(std::max(most, first_)), next_(first_),
        random_(std::random_device{}()) {}

  [[nodiscard]] duration next() {
    const duration longest = std::exchange(next_, std::min(most_, 2 * next_));
    std::uniform_int_distribution<duration::rep> shorter(longest.count() / 2, longest.count());
    return duration(shorter(random_));
  }
  /// It worked.
  void reset() noexcept { next_ = first_; }

 private:
  duration first_;
  duration most_;
  duration next_;
  std::minstd_rand random_;
};

} // namespace millrace::amqp::detail
