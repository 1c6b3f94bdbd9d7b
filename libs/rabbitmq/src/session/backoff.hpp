#pragma once

#include <millrace/runtime.hpp>

#include <algorithm>
#include <cstdint>

namespace millrace::rabbitmq::detail {

/// Pauses between attempts: doubling up to a bound, each with a random part of up to a half taken off. Not thread-safe.
class backoff {
 public:
  backoff(duration first, duration most, std::uint64_t seed) noexcept
      : first_(std::max(first, duration(1))), most_(std::max(most, first_)), next_(first_), random_(seed | 1) {}

  [[nodiscard]] duration next() noexcept {
    const duration pause = next_;
    next_ = std::min(most_, 2 * next_);
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return pause - duration(static_cast<std::int64_t>(random_ % (static_cast<std::uint64_t>(pause.count()) / 2 + 1)));
  }
  /// It worked.
  void reset() noexcept { next_ = first_; }

 private:
  duration first_;
  duration most_;
  duration next_;
  std::uint64_t random_;
};

} // namespace millrace::rabbitmq::detail
