#pragma once

#include "cloud/message_queue.hpp"
#include "transport/transport.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace millrace::pubsub::detail {

/// The service, without a network: topics, subscriptions, and every rule that a client can see. It answers requests in
/// their encoded form. Not thread-safe; a host locks, and says what time it is.
class cloud {
 public:
  struct options {
    /// Topics and subscriptions that nobody created are taken to exist; a subscription is attached to the topic of its
    /// own name.
    bool implicit = false;
    /// What publish_time says, in nanoseconds since 1970.
    std::function<std::int64_t()> clock;
  };
  explicit cloud(options chosen) : options_(std::move(chosen)) {}

  [[nodiscard]] call_answer call(method which, std::string_view body, time_point now);
  /// Opens a stream; an error refuses it.
  [[nodiscard]] call_status attach(cloud_stream& to, std::string_view first, time_point now);
  /// A later request of a stream.
  [[nodiscard]] call_status request(cloud_stream& from, std::string_view body, time_point now);
  void detach(cloud_stream& from);

  /// Does what is due.
  void run(time_point now);
  [[nodiscard]] std::optional<time_point> next_due() const;

  [[nodiscard]] message_queue* find(const std::string& subscription);
  void end_streams(const call_status& why);

 private:
  struct topic {
    std::vector<std::string> subscriptions;
  };
  [[nodiscard]] call_status create_topic(std::string_view body, std::string& out);
  [[nodiscard]] call_status get_topic(std::string_view body, std::string& out);
  [[nodiscard]] call_status delete_topic(std::string_view body);
  [[nodiscard]] call_status publish(std::string_view body, std::string& out);
  [[nodiscard]] call_status create_subscription(std::string_view body, std::string& out);
  [[nodiscard]] call_status get_subscription(std::string_view body, std::string& out);
  [[nodiscard]] call_status update_subscription(std::string_view body, std::string& out);
  [[nodiscard]] call_status delete_subscription(std::string_view body);
  [[nodiscard]] call_status acknowledge(std::string_view body);
  [[nodiscard]] call_status modify(std::string_view body, time_point now);
  [[nodiscard]] call_status dispatch(method which, std::string_view body, std::string& out, time_point now);

  [[nodiscard]] topic* topic_of(const std::string& name);
  [[nodiscard]] message_queue* queue_of(const std::string& name);
  void add(wire::Subscription settings);
  void store(const topic& to, wire::PubsubMessage message);
  void bury(message_queue& from);

  options options_;
  std::map<std::string, topic> topics_;
  std::map<std::string, std::unique_ptr<message_queue>> subscriptions_;
  std::map<cloud_stream*, std::string> streams_;
  std::set<std::string> touched_; ///< subscriptions that have something to do
  std::uint64_t last_message_ = 0;
};

} // namespace millrace::pubsub::detail
