#pragma once

#include "protocol/message_codec.hpp"
#include "session/alarm.hpp"
#include "session/publish_lane.hpp"
#include "transport/transport.hpp"

#include <millrace/event.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace millrace::pubsub::detail {

class connection;

/// Publishes to one topic: gathers messages into requests of legal size, sends some at a time, and tries again what
/// fails for a passing reason. A request that the service refuses for what is in it is halved until the message that is
/// meant stands alone, so that its neighbours go through. Each ordering key has a lane of its own with one request at a
/// time, so that nothing overtakes; when a request of a key fails for good, what waits behind it fails too, and the key
/// is free again.
class topic_publisher final {
 public:
  /// The connection owns it; what is under way keeps the connection.
  topic_publisher(connection& shared, std::string full_name);

  /// The message is checked already.
  void publish(const outgoing_message& m, publish_operation& op);

  /// Messages are refused from here on; what was taken is sent without waiting for company.
  void close();
  /// Waits for the answers. What has none at `due` answers an error; how many those are.
  [[nodiscard]] task<std::size_t> flush(time_point due);
  /// What waits answers an error now.
  std::size_t give_up() noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  using lock = std::unique_lock<std::mutex>;
  using request_ptr = std::unique_ptr<publish_request>;
  using lane_map = std::map<std::string, publish_lane, std::less<>>;
  /// One attempt, to be sent without the lock.
  struct attempt {
    std::uint64_t id;
    std::shared_ptr<const std::string> body;
    duration bound;
  };
  using outbox = std::vector<attempt>;

  [[nodiscard]] publish_lane& lane_of(std::string_view key);
  [[nodiscard]] bool fits(const publish_batch& batch, std::size_t size) const noexcept;
  void append(publish_lane& lane, const outgoing_message& m, std::size_t size, publish_operation& op);
  void seal(publish_lane& lane, std::string_view key);
  void dispatch(publish_lane& lane, std::string_view key, outbox& out);
  void send_all(lock& held, const outbox& out);
  void send(const attempt& a);
  void answered(std::uint64_t id, const call_answer& answer);
  [[nodiscard]] attempt attempt_of(const publish_request& r) const;
  void accepted(lock& held, const request_ptr& r, const std::string& body);
  void failed(lock& held, request_ptr r, const call_status& status);
  void send_in_halves(lock& held, const request_ptr& r);
  [[nodiscard]] std::vector<request_ptr> take_lane(std::string_view key);
  void settle_lane(std::string_view key, outbox& out);
  void tick() noexcept;
  void send_due(time_point now, outbox& out);
  void tell_if_idle();
  [[nodiscard]] error failure(const call_status& status) const;

  connection& shared_;
  const std::string name_;
  const std::string routing_;
  const std::string prefix_; ///< of every request

  std::mutex mutex_;
  publish_lane plain_;
  lane_map keyed_;
  std::unordered_map<std::uint64_t, request_ptr> sent_; ///< under way, or waiting for the next attempt
  std::uint64_t last_id_ = 0;
  std::size_t queued_bytes_ = 0;
  bool closed_ = false;
  event idle_;
  alarm alarm_;
};

} // namespace millrace::pubsub::detail
