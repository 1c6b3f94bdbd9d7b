#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace millrace::nats::detail {

/// Which stream sequences an ephemeral consumer has delivered and not seen settled, so that its replacement after an
/// outage starts early enough. Bounded by the consumer's `max_ack_pending`. Thread-safe.
class unsettled_sequences {
 public:
  void delivered(std::uint64_t sequence) {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::lower_bound(open_, sequence);
    if (at == open_.end() || *at != sequence) open_.insert(at, sequence);
    highest_ = std::max(highest_, sequence);
  }
  void settled(std::uint64_t sequence) noexcept {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::lower_bound(open_, sequence);
    if (at != open_.end() && *at == sequence) open_.erase(at);
  }
  /// Where a replacement starts.
  [[nodiscard]] std::uint64_t resume_at() const {
    const std::lock_guard lock(mutex_);
    return open_.empty() ? highest_ + 1 : open_.front();
  }
  [[nodiscard]] bool started() const {
    const std::lock_guard lock(mutex_);
    return highest_ != 0;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> open_; ///< sorted
  std::uint64_t highest_ = 0;
};

} // namespace millrace::nats::detail
