#pragma once

#include <millrace/pubsub/credentials.hpp>
#include <millrace/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace millrace::pubsub {

/// When what waits for a topic is sent. A message goes out at once while no request of its topic is under way;
/// otherwise it waits for company, until one of these is reached or an answer arrives.
class batching {
 public:
  batching() = default;
  /// At most 1,000. Default 1,000.
  batching& messages(std::size_t n) { return messages_ = n, *this; }
  /// At most 9,000,000; a larger message goes alone. Default 1 MiB.
  batching& bytes(std::size_t n) { return bytes_ = n, *this; }
  /// Default 10 ms.
  batching& delay(duration d) { return delay_ = d, *this; }

  [[nodiscard]] std::size_t max_messages() const noexcept { return messages_; }
  [[nodiscard]] std::size_t max_bytes() const noexcept { return bytes_; }
  [[nodiscard]] duration max_delay() const noexcept { return delay_; }

 private:
  std::size_t messages_ = 1000;
  std::size_t bytes_ = 1024UL * 1024;
  duration delay_ = std::chrono::milliseconds(10);
};

namespace detail {

/// What `broker` collects. Internal: read it through the setters' names.
struct settings {
  std::string project;
  std::optional<pubsub::credentials> credentials;
  std::string endpoint;
  std::string emulator;
  std::string root_certificates;
  pubsub::batching batches;
  std::size_t requests = 8;
  std::size_t queued_bytes = 100ULL * 1024 * 1024;
  duration connect_timeout = std::chrono::seconds(10);
  duration call_timeout = std::chrono::seconds(60);
  duration open_timeout = std::chrono::seconds(10);
  duration publish_timeout = std::chrono::seconds(60);
  duration shutdown_timeout = std::chrono::seconds(10);
  duration keepalive = std::chrono::seconds(60);
  duration keepalive_answer = std::chrono::seconds(20);
  duration stream_keepalive = std::chrono::seconds(30);
  duration quiet_stream = std::chrono::milliseconds(500);
  duration settle_delay = std::chrono::milliseconds(10);
};

} // namespace detail
} // namespace millrace::pubsub
