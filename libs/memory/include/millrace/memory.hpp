#pragma once

#include <millrace/broker.hpp>
#include <millrace/incoming.hpp>
#include <millrace/outgoing.hpp>

#include <cstdint>
#include <memory>
#include <string>

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

/// A subscription to one topic. Without a group every subscription gets every message that is published after it
/// opened; the members of a group share them.
class topic {
 public:
  explicit topic(std::string name) : name_(std::move(name)) {}
  topic& group(std::string name) & {
    group_ = std::move(name);
    return *this;
  }
  topic&& group(std::string name) && { return std::move(group(std::move(name))); }
  /// Begins with what the topic retained. Needs a broker with `retain`.
  topic& from_start() & {
    from_start_ = true;
    return *this;
  }
  topic&& from_start() && { return std::move(from_start()); }
  /// How many messages are handed over and not settled, at most. Default 64, or twice the workers if that is more.
  topic& window(std::size_t n) & {
    window_ = n;
    return *this;
  }
  topic&& window(std::size_t n) && { return std::move(window(n)); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& group_name() const noexcept { return group_; }
  [[nodiscard]] bool starts_at_first() const noexcept { return from_start_; }
  [[nodiscard]] std::size_t window_size() const noexcept { return window_; }
  /// A partial batch does not wait: what is there is there.
  [[nodiscard]] duration batch_wait() const noexcept { return {}; }
  [[nodiscard]] result<void> check() const;
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::held, name_}; }

 private:
  std::string name_;
  std::string group_;
  std::size_t window_ = 0;
  bool from_start_ = false;
};

/// Publishes to a topic; the message is with its subscriptions when the call returns. Fails with `errc::queue_full`,
/// nowhere delivered, if one of them holds `queue_limit` messages.
class publish {
 public:
  struct options {};
  static constexpr bool can_request = true;
};

/// The position of a delivery's message in its topic, from 1.
inline constexpr field_key<std::uint64_t, class connected_broker> sequence{};

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
