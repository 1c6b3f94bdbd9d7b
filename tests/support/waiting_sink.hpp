#pragma once

#include <millrace/incoming.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::test_support {

/// Keeps what arrives until a test takes it, and writes down what the subscription says of itself; a test waits for
/// both.
class waiting_sink final : public sink {
 public:
  waiting_sink() = default;
  waiting_sink(const waiting_sink&) = delete;
  waiting_sink& operator=(const waiting_sink&) = delete;
  ~waiting_sink() { release_all(); }

  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override {
    const std::lock_guard lock(mutex_);
    arrived_ += batch.size();
    held_.append(std::move(batch));
    changed_.notify_all();
  }
  void interrupted(error why) noexcept override { note("interrupted: " + why.message()); }
  void resumed() noexcept override { note("resumed"); }
  void ended(error why) noexcept override { note("ended: " + why.message()); }
  void dropped(std::uint64_t /*count*/) noexcept override { note("dropped"); }
  void refused(std::uint64_t count, error why) noexcept override {
    note("refused " + std::to_string(count) + ": " + why.message());
  }

  /// The next delivery; null: nothing came.
  incoming* next(std::chrono::milliseconds bound = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, bound, [this] { return !held_.empty(); });
    return held_.pop();
  }
  /// Waits until so many have come, taken or not.
  bool arrived(std::size_t n, std::chrono::milliseconds bound = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, bound, [&] { return arrived_ >= n; });
  }
  [[nodiscard]] std::size_t arrived() const {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }
  /// Waits until something that begins so was told.
  bool told(const std::string& beginning, std::chrono::milliseconds bound = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, bound, [&] {
      return std::ranges::any_of(notes_, [&](const std::string& n) { return n.starts_with(beginning); });
    });
  }
  [[nodiscard]] std::vector<std::string> notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }
  /// Empty: nothing was told.
  [[nodiscard]] std::string first_told() const {
    const std::lock_guard lock(mutex_);
    return notes_.empty() ? std::string() : notes_.front();
  }
  [[nodiscard]] std::string last_told() const {
    const std::lock_guard lock(mutex_);
    return notes_.empty() ? std::string() : notes_.back();
  }
  void release_all() {
    incoming_batch left;
    {
      const std::lock_guard lock(mutex_);
      left = std::move(held_);
    }
    left.release_all();
  }

 private:
  void note(std::string text) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(text));
    changed_.notify_all();
  }
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  incoming_batch held_;
  std::size_t arrived_ = 0;
  std::vector<std::string> notes_;
};

/// Settles and releases. False: there is none, or the settlement was not taken.
inline bool settle(incoming* m, settlement_kind kind = settlement_kind::ack, duration delay = {}) {
  if (m == nullptr) return false;
  const bool taken = m->settle({kind, delay}).has_value();
  m->release();
  return taken;
}

inline std::string text_of(const incoming* m) {
  return m == nullptr ? "(nothing)" : std::string(as_text(m->payload()));
}

/// The text of a message that is acknowledged with it.
inline std::string taken_text(incoming* m) {
  std::string text = text_of(m);
  (void)settle(m);
  return text;
}

} // namespace millrace::test_support
