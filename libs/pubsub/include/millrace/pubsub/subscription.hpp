#pragma once

#include <millrace/broker.hpp>
#include <millrace/error.hpp>
#include <millrace/runtime.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace millrace::pubsub {

/// A subscription to pull from, by short id or by `projects/<project>/subscriptions/<id>`. A bare string means this
/// with all defaults: it must exist. Dead letters are the registration's: `max_attempts(5).dead_letter("topic")` is
/// written into the subscription's policy, and the service counts and moves, not this process.
class subscription {
 public:
  explicit subscription(std::string name) : name_(std::move(name)) {}

  /// Creates the topic, the dead-letter topic and the subscription where they are missing; the subscription with
  /// message ordering on. Needs the rights to do so.
  subscription& create_with_topic(std::string topic) { return topic_ = std::move(topic), creates_ = true, *this; }
  /// How many messages, and how many bytes of them, are delivered and unsettled at most; 0 bytes: no bound on bytes.
  /// Defaults 1,000 and 100 MiB.
  subscription& max_outstanding(std::int64_t messages, std::int64_t bytes = 100LL * 1024 * 1024);
  /// How far one extension of a lease reaches; also the stream's acknowledgement deadline. 10 s to 600 s, rounded up to
  /// seconds and clamped. Default 60 s.
  subscription& ack_extension(duration d) { return extension_ = d, *this; }
  /// How long one delivery is kept leased in all; the longest `retry_after`. Then it comes back. Default 1 h.
  subscription& max_lease(duration d) { return max_lease_ = d, *this; }
  /// How long a partial batch of a batch handler waits. Default 50 ms.
  subscription& batch_wait(duration d) { return batch_wait_ = d, *this; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] bool creates() const noexcept { return creates_; }
  [[nodiscard]] std::int64_t max_messages() const noexcept { return messages_; }
  [[nodiscard]] std::int64_t max_bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::chrono::seconds ack_extension() const noexcept;
  [[nodiscard]] duration max_lease() const noexcept { return max_lease_; }
  [[nodiscard]] duration batch_wait() const noexcept { return batch_wait_; }

  /// What no service would take, before any I/O: `errc::invalid_descriptor`.
  [[nodiscard]] result<void> check() const;
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::broker_moves, {}}; }

 private:
  std::string name_;
  std::string topic_;
  bool creates_ = false;
  std::int64_t messages_ = 1000;
  std::int64_t bytes_ = 100LL * 1024 * 1024;
  duration extension_ = std::chrono::seconds(60);
  duration max_lease_ = std::chrono::hours(1);
  duration batch_wait_ = std::chrono::milliseconds(50);
};

inline subscription& subscription::max_outstanding(std::int64_t messages, std::int64_t bytes) {
  messages_ = messages;
  bytes_ = bytes;
  return *this;
}

} // namespace millrace::pubsub
