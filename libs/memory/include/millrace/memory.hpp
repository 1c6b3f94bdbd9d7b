#pragma once

#include <millrace/broker.hpp>
#include <millrace/incoming.hpp>
#include <millrace/outgoing.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// The embedded broker: topics in this process, with the reference semantics of every capability. It needs no server
/// and no thread.
namespace millrace::memory {

class hub;

/// What a topic keeps for subscriptions that open later. The newest message is always kept.
class retention {
 public:
  retention() = default;
  retention(std::size_t messages, std::size_t bytes) noexcept : messages_(messages), bytes_(bytes) {}
  /// At most; 0: nothing is kept.
  [[nodiscard]] std::size_t messages() const noexcept { return messages_; }
  /// Payload bytes, at most; 0: no bound of its own.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t messages_ = 0;
  std::size_t bytes_ = 0;
};

/// A place in a topic's log.
class position {
 public:
  /// The oldest message that is kept.
  [[nodiscard]] static position start() noexcept { return position(0); }
  /// Behind the newest.
  [[nodiscard]] static position end() noexcept { return position(past_all); }
  /// The message of this sequence number, as the field `sequence` has it.
  [[nodiscard]] static position at(std::uint64_t sequence) noexcept { return position(sequence); }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }
  static constexpr std::uint64_t past_all = static_cast<std::uint64_t>(-1);

 private:
  explicit position(std::uint64_t value) noexcept : value_(value) {}
  std::uint64_t value_;
};

class consumer;

/// Repositions the subscription that a delivery came from; a handler takes it as `field<memory::seeker>`. Valid until
/// the handler ends.
class seek_handle {
 public:
  seek_handle(hub& shared, consumer& c) noexcept : hub_(&shared), consumer_(&c) {}
  /// The stream goes on at `to`: deliveries that wait are discarded, the one being handled settles as usual, delayed
  /// retries still come. `errc::invalid_options` for a group, without `retain`, or for a message that is not kept any
  /// more (the error names the oldest).
  [[nodiscard]] result<void> seek(position to) const;

 private:
  hub* hub_;
  consumer* consumer_;
};

/// A subscription to one topic. Without a group every subscription gets every message that is published after it
/// opened; the members of a group share them. Names that begin with "_reply." are for answers to requests.
class topic {
 public:
  explicit topic(std::string name) : name_(std::move(name)) {}
  topic& group(std::string name) & {
    group_ = std::move(name);
    return *this;
  }
  topic&& group(std::string name) && { return std::move(group(std::move(name))); }
  /// Where it begins, each time the service starts. Needs a broker with `retain`. Default: the end.
  topic& start_at(position where) & {
    start_ = where;
    return *this;
  }
  topic&& start_at(position where) && { return std::move(start_at(where)); }
  topic& from_start() & { return start_at(position::start()); }
  topic&& from_start() && { return std::move(from_start()); }
  /// How many messages are handed over and not settled, at most. Default 64, or twice the workers if that is more.
  topic& window(std::size_t n) & {
    window_ = n;
    return *this;
  }
  topic&& window(std::size_t n) && { return std::move(window(n)); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& group_name() const noexcept { return group_; }
  [[nodiscard]] const std::optional<position>& start() const noexcept { return start_; }
  [[nodiscard]] std::size_t window_size() const noexcept { return window_; }
  /// A partial batch does not wait: what is there is there.
  [[nodiscard]] duration batch_wait() const noexcept { return {}; }
  [[nodiscard]] result<void> check() const;
  void add_prefix(std::string_view prefix) { name_.insert(0, prefix); }
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::held, name_}; }

 private:
  std::string name_;
  std::string group_;
  std::size_t window_ = 0;
  std::optional<position> start_;
};

/// Publishes to a topic; the message is with its subscriptions when the call returns. Fails with `errc::queue_full`,
/// nowhere delivered, if one of them holds `queue_limit` messages.
class publish {
 public:
  struct options {};
  static constexpr bool can_request = true;
  static constexpr bool can_transact = true;
  static constexpr bool can_own_transactions = true;
};

/// The position of a delivery's message in its topic, from 1.
inline constexpr field_key<std::uint64_t, class connected_broker> sequence{};

/// What repositions the subscription.
inline constexpr field_key<seek_handle, class connected_broker> seeker{};

/// What the shutdown left.
struct closed_broker {
  std::size_t subscriptions = 0; ///< still registered
  std::size_t unsettled = 0;     ///< messages that nobody had settled
};

class connected_broker {
 public:
  using closed_type = closed_broker;
  using default_source = topic;
  using default_policy = publish;

  explicit connected_broker(std::shared_ptr<hub> shared) noexcept : hub_(std::move(shared)) {}

  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const publish& policy);
  task<open_result> open(const topic& source, sink& to, const open_options& options);
  /// Every handle answers `errc::closed` from here on.
  task<result<closed_broker>> shutdown() &&;

 private:
  std::shared_ptr<hub> hub_;
};

/// The configuration. Copies share one state, so two services can talk through one broker; the first that connects
/// gives it its clock, and the shutdown of one closes it for all.
class broker {
 public:
  using connected_type = connected_broker;

  explicit broker(std::string name = "memory");
  /// Keeps messages of every topic for `topic::from_start`.
  broker& retain(retention keep) &;
  broker&& retain(retention keep) && { return std::move(retain(keep)); }
  /// How many messages one subscription or group holds, at most. Default 65,536.
  broker& queue_limit(std::size_t messages) &;
  broker&& queue_limit(std::size_t messages) && { return std::move(queue_limit(messages)); }

  [[nodiscard]] std::string describe() const { return name_; }
  task<result<connected_broker>> connect(runtime& rt) &&;
  task<result<connected_broker>> connect_in_process(runtime& rt) &&;

 private:
  std::string name_;
  std::shared_ptr<hub> hub_;
};

} // namespace millrace::memory
