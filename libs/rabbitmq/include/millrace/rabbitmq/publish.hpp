#pragma once

#include <millrace/runtime.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace millrace::rabbitmq {

/// What one message may ask for; what is set wins over the policy's.
class message_options {
 public:
  message_options() = default;
  std::optional<std::uint8_t> priority;
  std::optional<duration> expiration;
  std::optional<bool> persistent;
  std::optional<std::chrono::sys_seconds> timestamp;
  std::string type;
  std::string app_id;
};

/// Options of one message: `pub.message(o).to("orders").with(priority(5))`.
class priority {
 public:
  explicit priority(std::uint8_t level) : level_(level) {}
  friend void apply(message_options& to, const priority& option) { to.priority = option.level_; }

 private:
  std::uint8_t level_;
};
/// The server drops the message when it waited this long in a queue. Whole milliseconds; what is shorter counts as one.
class expiration {
 public:
  explicit expiration(duration after) : after_(after) {}
  friend void apply(message_options& to, const expiration& option) { to.expiration = option.after_; }

 private:
  duration after_;
};
/// Whether a durable queue keeps the message over a restart of the server.
class persistent {
 public:
  explicit persistent(bool on) : on_(on) {}
  friend void apply(message_options& to, const persistent& option) { to.persistent = option.on_; }

 private:
  bool on_;
};
class timestamp {
 public:
  explicit timestamp(std::chrono::sys_seconds when) : when_(when) {}
  friend void apply(message_options& to, const timestamp& option) { to.timestamp = option.when_; }

 private:
  std::chrono::sys_seconds when_;
};
class type {
 public:
  explicit type(std::string name) : name_(std::move(name)) {}
  friend void apply(message_options& to, const type& option) { to.type = option.name_; }

 private:
  std::string name_;
};
class app_id {
 public:
  explicit app_id(std::string id) : id_(std::move(id)) {}
  friend void apply(message_options& to, const app_id& option) { to.app_id = option.id_; }

 private:
  std::string id_;
};

/// The settings that every publish policy has. The destination of a message is its routing key.
template <class Self> class publish_settings {
 public:
  using options = message_options;

  /// Default `""`: the default exchange, where the key addresses the queue of that name.
  Self& exchange(std::string name) & { return exchange_ = std::move(name), self(); }
  Self&& exchange(std::string name) && { return std::move(exchange(std::move(name))); }
  Self& persistent(bool on) & { return defaults_.persistent = on, self(); }
  Self&& persistent(bool on) && { return std::move(persistent(on)); }
  Self& priority(std::uint8_t level) & { return defaults_.priority = level, self(); }
  Self&& priority(std::uint8_t level) && { return std::move(priority(level)); }
  Self& expiration(duration after) & { return defaults_.expiration = after, self(); }
  Self&& expiration(duration after) && { return std::move(expiration(after)); }

  [[nodiscard]] const std::string& exchange_name() const noexcept { return exchange_; }
  [[nodiscard]] const message_options& defaults() const noexcept { return defaults_; }

 private:
  friend Self;
  explicit publish_settings(bool persistent) { defaults_.persistent = persistent; }
  Self& self() noexcept { return static_cast<Self&>(*this); }
  std::string exchange_;
  message_options defaults_;
};

/// Fire and forget, on the connection's shared channel: success means that the message was handed over. What the server
/// thinks of it (a missing exchange, an unroutable key) is not seen. The default policy.
class publish : public publish_settings<publish> {
 public:
  publish() : publish_settings(true) {}
  static constexpr bool can_request = false;
};

/// Success means that the server took the message. A negative confirm, a channel or connection that is lost while
/// waiting, and a message that no queue gets are errors. The channel opens with the first publish (lifecycle R4).
class confirms : public publish_settings<confirms> {
 public:
  confirms() : publish_settings(true) {}
  static constexpr bool can_request = false;
  /// Messages of a transaction wait in the client; `commit` publishes them in order and ends when all are confirmed,
  /// with the first failure. It is no atomic step: what was published before a failure stays published.
  static constexpr bool can_transact = true;
  static constexpr bool can_own_transactions = true;

  /// Default true: an unroutable message is an error. Where messages of one routing key are in flight together, the
  /// return of one is an error of all of them: a duplicate rather than a silent loss.
  confirms& mandatory(bool on) & { return mandatory_ = on, *this; }
  confirms&& mandatory(bool on) && { return std::move(mandatory(on)); }
  /// Unconfirmed messages, at most; further publishes wait. Default 1024.
  confirms& window(std::uint32_t messages) & { return window_ = messages, *this; }
  confirms&& window(std::uint32_t messages) && { return std::move(window(messages)); }

  [[nodiscard]] bool is_mandatory() const noexcept { return mandatory_; }
  [[nodiscard]] std::uint32_t window_size() const noexcept { return window_; }

 private:
  bool mandatory_ = true;
  std::uint32_t window_ = 1024;
};

/// Transactions of the server (`tx`): what is published after `begin` becomes visible at `commit`, to one queue at a
/// time. One at a time; outside of it this is `publish`. The channel opens with the first `begin` (lifecycle R4). A
/// channel that is lost ends the transaction with an error: it is never committed empty. Slow: prefer `confirms`.
class transactions : public publish_settings<transactions> {
 public:
  transactions() : publish_settings(true) {}
  static constexpr bool can_request = false;
  static constexpr bool can_transact = true;
  static constexpr bool can_own_transactions = false;
};

/// Requests over direct reply-to: `pub.message(q).to("prices").request(2s)`. Transient by default. The channel and its
/// reply consumer open with the first request (lifecycle R4); a request that no queue gets fails at once.
class request : public publish_settings<request> {
 public:
  request() : publish_settings(false) {}
  static constexpr bool can_request = true;
};

} // namespace millrace::rabbitmq
