#pragma once

#include "cloud/filter.hpp"
#include "protocol/status.hpp"

#include <millrace/runtime.hpp>

#include <pubsub_wire.pb.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace millrace::pubsub::detail {

/// A message as its topic has it; shared by all subscriptions.
struct stored_message {
  wire::PubsubMessage message;
  std::uint64_t sequence = 0; ///< in the order of publishing
  std::size_t bytes = 0;
};
using message_ptr = std::shared_ptr<const stored_message>;

/// Where a stream's messages go. Called with the lock of the host held.
class cloud_stream {
 public:
  cloud_stream() = default;
  cloud_stream(const cloud_stream&) = delete;
  cloud_stream& operator=(const cloud_stream&) = delete;
  virtual ~cloud_stream() = default;
  virtual void send(const wire::StreamingPullResponse& response) = 0;
  virtual void end(call_status why) = 0;
};

/// The messages of one subscription, with the rules of the service: leases and their expiry, the window of each stream,
/// order within a key (what follows a refused message comes again too), delivery attempts, retry policy, filter.
/// Driven from outside: every call says what time it is.
class message_queue {
 public:
  explicit message_queue(wire::Subscription settings);

  /// A message that used its attempts up.
  struct spent {
    message_ptr message;
    std::uint32_t attempts;
  };

  void publish(message_ptr message);
  /// False: there is no such delivery any more.
  bool acknowledge(const std::string& ack_id);
  bool modify(const std::string& ack_id, std::chrono::seconds deadline, time_point now);
  void attach(cloud_stream& to, const wire::StreamingPullRequest& first);
  void detach(cloud_stream& from);
  void change_deadline(cloud_stream& of, std::chrono::seconds deadline);
  void end_streams(const call_status& why);

  /// Expires leases, ends delays, and hands out what streams have room for.
  void run(time_point now);
  /// As if every lease were over.
  void expire_all(time_point now);
  [[nodiscard]] std::optional<time_point> next_due() const;
  [[nodiscard]] std::vector<spent> take_spent() { return std::exchange(spent_, {}); }

  [[nodiscard]] wire::Subscription& settings() noexcept { return settings_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return ready_.size() + delayed_.size(); }
  [[nodiscard]] std::size_t outstanding() const noexcept { return out_.size(); }
  [[nodiscard]] std::size_t streams() const noexcept { return streams_.size(); }

 private:
  struct entry {
    message_ptr message;
    std::uint32_t attempts = 0;
  };
  struct consumer {
    cloud_stream* to = nullptr;
    std::int64_t most_messages = 0;
    std::int64_t most_bytes = 0;
    std::chrono::seconds deadline{10};
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    wire::StreamingPullResponse filling;
    [[nodiscard]] bool has_room() const noexcept;
  };
  struct delivery {
    entry what;
    cloud_stream* to = nullptr;
    std::multimap<time_point, std::uint64_t>::iterator deadline;
  };
  struct key_state {
    cloud_stream* to = nullptr; ///< only this stream gets the key's next messages
    std::size_t out = 0;
    std::size_t delayed = 0;
  };
  using out_map = std::unordered_map<std::uint64_t, delivery>;

  [[nodiscard]] std::optional<std::uint64_t> number_of(const std::string& ack_id) const;
  [[nodiscard]] bool ordered(const entry& e) const;
  [[nodiscard]] consumer* consumer_for(const entry& e);
  [[nodiscard]] consumer* find(const cloud_stream* to);
  void hand_out(time_point now);
  void hand(consumer& to, entry e, time_point now);
  void send_filled();
  void send(consumer& from);
  [[nodiscard]] delivery take(out_map::iterator at);
  void give_back(delivery d, time_point now);
  void give_back_followers(const entry& e);
  void return_to_queue(entry e, time_point now);
  [[nodiscard]] duration pause_of(const entry& e) const;
  void expire(time_point now);

  wire::Subscription settings_;
  message_filter filter_;
  std::map<std::uint64_t, entry> ready_; ///< by sequence
  std::multimap<time_point, entry> delayed_;
  out_map out_; ///< by the number in the ack id
  std::multimap<time_point, std::uint64_t> deadlines_;
  std::unordered_map<std::string, key_state> keys_;
  std::vector<std::unique_ptr<consumer>> streams_;
  std::size_t rotation_ = 0;
  std::uint64_t last_ack_ = 0;
  std::vector<spent> spent_;
};

} // namespace millrace::pubsub::detail
