#pragma once

#include "session/topic_publisher.hpp"
#include "transport/transport.hpp"

#include <millrace/pubsub/broker.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace millrace::pubsub::detail {

class leases;
class puller;

/// A dead-letter declaration of one subscription, by full names.
struct redelivery_declaration {
  std::uint32_t max_attempts = 0; ///< 0: none
  std::string dead_letter;
  bool operator==(const redelivery_declaration&) const = default;
};

/// What everything made from one connected broker shares: the transport, the publishers of the topics, the lease
/// keepers, and the closed flag that is set before any I/O of the shutdown (lifecycle L3) and that every handle looks
/// at first (L4).
class connection final : public std::enable_shared_from_this<connection> {
 public:
  connection(runtime& rt, settings options) : runtime_(rt), settings_(std::move(options)) {}
  void attach(std::shared_ptr<transport> wire) { wire_ = std::move(wire); }

  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  [[nodiscard]] runtime& clock() noexcept { return runtime_; }
  [[nodiscard]] const settings& options() const noexcept { return settings_; }
  [[nodiscard]] transport& wire() noexcept { return *wire_; }

  /// The publisher of a topic, by its name as written; it starts with the first message (lifecycle P7). An error names
  /// the topic. The answer lives as long as the connection.
  [[nodiscard]] result<topic_publisher*> topic(std::string_view written);

  /// Two registrations of one subscription declare the same (lifecycle P6). An error names the subscription.
  [[nodiscard]] result<void> declare(const std::string& full_name, redelivery_declaration declared);

  /// Keeps settlements going until the shutdown, whatever becomes of the subscription.
  void add(std::shared_ptr<leases> held, std::weak_ptr<puller> reader);

  [[nodiscard]] task<result<closed_broker>> shutdown();
  /// Without waiting: nothing is sent any more.
  void abandon() noexcept;

 private:
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  [[nodiscard]] std::vector<std::shared_ptr<topic_publisher>> publishers();
  [[nodiscard]] task<std::size_t> flush_publishers(time_point due);
  [[nodiscard]] task<bool> flush_settlements(time_point due);
  [[nodiscard]] task<void> stop_reading();
  void close_subscriptions() noexcept;

  runtime& runtime_;
  const settings settings_;
  std::shared_ptr<transport> wire_;
  std::atomic<bool> closed_ = false;

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<topic_publisher>, text_hash, std::equal_to<>> written_;
  std::map<std::string, std::shared_ptr<topic_publisher>, std::less<>> topics_; ///< by full name
  std::map<std::string, redelivery_declaration> declared_;
  std::vector<std::shared_ptr<leases>> leases_;
  std::vector<std::weak_ptr<puller>> readers_;
};

} // namespace millrace::pubsub::detail
