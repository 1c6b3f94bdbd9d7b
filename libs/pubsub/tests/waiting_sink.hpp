#pragma once

#include <millrace/incoming.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::pubsub::test {

/// Keeps what arrives until the test takes it, and writes down what the subscription says of itself.
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

  /// Null: nothing came.
  incoming* next(std::chrono::milliseconds bound = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, bound, [this] { return !held_.empty(); });
    return held_.pop();
  }
  bool arrived(std::size_t n, std::chrono::milliseconds bound = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, bound, [&] { return arrived_ >= n; });
  }
  [[nodiscard]] std::size_t arrived() const {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }
  bool told(const std::string& beginning, std::chrono::milliseconds bound = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, bound, [&] {
      return std::ranges::any_of(notes_, [&](const std::string& n) { return n.starts_with(beginning); });
    });
  }
  [[nodiscard]] std::vector<std::string> notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
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

/// Settles and releases; false where there was none or it was refused.
inline bool settle(incoming* m, settlement_kind kind, duration delay = {}) {
  if (m == nullptr) return false;
  const bool taken = m->settle({kind, delay}).has_value();
  m->release();
  return taken;
}
inline bool ack(incoming* m) { return settle(m, settlement_kind::ack); }

} // namespace millrace::pubsub::test
