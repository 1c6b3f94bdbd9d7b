#pragma once

#include <millrace/amqp/address.hpp>
#include <millrace/runtime.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace millrace::amqp {

/// What one message may ask for; what is set wins over the policy's.
class message_options {
 public:
  message_options() = default;
  std::optional<bool> durable;
  std::optional<std::uint8_t> priority;
  std::optional<duration> ttl;
};

/// Options of one message: `pub.message(o).to("orders").with(amqp::with_priority(7))`.
class with_priority {
 public:
  explicit with_priority(std::uint8_t level) : level_(level) {}
  friend void apply(message_options& to, const with_priority& option) { to.priority = option.level_; }

 private:
  std::uint8_t level_;
};
/// The peer drops the message when it waited this long. Whole milliseconds; what is shorter counts as one.
class with_ttl {
 public:
  explicit with_ttl(duration after) : after_(after) {}
  friend void apply(message_options& to, const with_ttl& option) { to.ttl = option.after_; }

 private:
  duration after_;
};
/// Whether a durable queue keeps the message over a restart of the peer.
class with_durable {
 public:
  explicit with_durable(bool on) : on_(on) {}
  friend void apply(message_options& to, const with_durable& option) { to.durable = option.on_; }

 private:
  bool on_;
};

/// The settings that every publish policy has.
template <class Self> class publish_settings {
 public:
  using options = message_options;

  /// Default true for what is published; false for a request, whose answer nobody could get after a restart of the
  /// peer, and which would wait for the peer's disk.
  Self& durable(bool on) & { return defaults_.durable = on, self(); }
  Self&& durable(bool on) && { return std::move(durable(on)); }
  /// 0 to 255, the highest first; AMQP's own default is 4.
  Self& priority(std::uint8_t level) & { return defaults_.priority = level, self(); }
  Self&& priority(std::uint8_t level) && { return std::move(priority(level)); }
  Self& ttl(duration after) & { return defaults_.ttl = after, self(); }
  Self&& ttl(duration after) && { return std::move(ttl(after)); }
  /// What the destinations are, for a peer that creates them on demand. Default `any`: what exists, or the peer's own
  /// choice.
  Self& to(node_kind kind) & { return kind_ = kind, self(); }
  Self&& to(node_kind kind) && { return std::move(to(kind)); }

  [[nodiscard]] const message_options& defaults() const noexcept { return defaults_; }
  [[nodiscard]] node_kind target() const noexcept { return kind_; }

 private:
  friend Self;
  publish_settings() = default;
  Self& self() noexcept { return static_cast<Self&>(*this); }
  message_options defaults_;
  node_kind kind_ = node_kind::any;
};

/// Success means that the peer accepted the message; every other outcome is an error that carries the peer's words.
/// Many publishes to one address may be under way at once, and stay in order. The link to an address opens with the
/// first publish to it (lifecycle A4) and closes when it was idle for a while. Requests share one dynamic reply
/// address. The default policy.
class publish : public publish_settings<publish> {
 public:
  publish() = default;
  static constexpr bool can_request = true;
};

/// Publishes in transactions of the peer, where it has them: what is published after `begin` becomes visible at
/// `commit`, all or nothing. One at a time a publisher; outside of it this is `publish`, without requests.
class transactional_publish : public publish_settings<transactional_publish> {
 public:
  transactional_publish() = default;
  static constexpr bool can_request = false;
  static constexpr bool can_transact = true;
  static constexpr bool can_own_transactions = false;
};

} // namespace millrace::amqp
