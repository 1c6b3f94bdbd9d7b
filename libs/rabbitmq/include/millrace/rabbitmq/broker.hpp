#pragma once

#include <millrace/broker.hpp>
#include <millrace/rabbitmq/errors.hpp>
#include <millrace/rabbitmq/options.hpp>
#include <millrace/rabbitmq/publish.hpp>
#include <millrace/rabbitmq/queue.hpp>

#include <memory>
#include <string>
#include <utility>

/// RabbitMQ over AMQP 0-9-1.
namespace millrace::rabbitmq {

namespace detail {
class session; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final
}

/// What the shutdown left.
class closed_broker {
 public:
  explicit closed_broker(bool handshake) noexcept : handshake_(handshake) {}
  /// Whether the orderly close took place; false where the connection was gone already (lifecycle R5).
  [[nodiscard]] bool handshake() const noexcept { return handshake_; }

 private:
  bool handshake_;
};

/// A live connection. Move-only; publishers, subscriptions and deliveries made from it may outlive it and then answer
/// `errc::closed` (lifecycle R6). A connection that is lost is restored; see `sink`.
class connected_broker {
 public:
  using closed_type = closed_broker;
  using default_source = queue;
  using default_policy = publish;

  explicit connected_broker(std::shared_ptr<detail::session> live) noexcept;
  connected_broker(connected_broker&&) noexcept;
  connected_broker& operator=(connected_broker&&) noexcept;
  ~connected_broker();

  /// A live publisher; no I/O (lifecycle R4).
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const publish& policy);
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const confirms& policy);
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const transactions& policy);
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const request& policy);

  /// Opens a channel, declares what is to be declared, and consumes, in the order of lifecycle R2.
  [[nodiscard]] task<open_result> open(const queue& source, sink& to, const open_options& options);
  [[nodiscard]] task<open_result> open(const quorum_queue& source, sink& to, const open_options& options);
  [[nodiscard]] task<open_result> open(const stream_queue& source, sink& to, const open_options& options);

  /// Marks closed, then performs the closing handshake (lifecycle L3, R5). Bounded by `close_timeout`; a connection
  /// that is gone already is no error.
  [[nodiscard]] task<result<closed_broker>> shutdown() &&;

 private:
  std::shared_ptr<detail::session> live_;
};

/// A RabbitMQ server or cluster to connect to. Plain configuration (lifecycle L1): nothing is parsed or dialled here.
class broker {
 public:
  using connected_type = connected_broker;

  /// `amqp[s]://[user:password@]host[:port][,host[:port]...][/vhost][?heartbeat=seconds&connection_timeout=milliseconds]`.
  /// Several hosts are tried in turn. Without a vhost it is `/`; without a login it is guest.
  explicit broker(std::string uri) { settings_.uri = std::move(uri); }

  /// What the management page shows (lifecycle R1).
  broker& connection_name(std::string name) & { return settings_.connection_name = std::move(name), *this; }
  broker&& connection_name(std::string name) && { return std::move(connection_name(std::move(name))); }
  /// Messages delivered and not settled, of each subscription, at most: 1 to 65,535. Unset, the server sends without
  /// limit (lifecycle R2.4); a service in production sets it.
  broker& prefetch(std::uint16_t n) & { return settings_.prefetch = n, *this; }
  broker&& prefetch(std::uint16_t n) && { return std::move(prefetch(n)); }
  /// Whether subscriptions declare what they name. Default false: nothing is created at the server.
  broker& declare_topology(bool on) & { return with_topology(on ? topology::declare : topology::assume); }
  broker&& declare_topology(bool on) && { return std::move(declare_topology(on)); }
  broker& with_topology(topology mode) & { return settings_.mode = mode, *this; }
  broker&& with_topology(topology mode) && { return std::move(with_topology(mode)); }
  /// A peer that is silent for two intervals is given up. 0 turns heartbeats off. Default: the server's proposal (60
  /// s), at most.
  broker& heartbeat(duration interval) & { return settings_.heartbeat = interval, *this; }
  broker&& heartbeat(duration interval) && { return std::move(heartbeat(interval)); }
  /// Bounds `connect`, over all hosts, and each later attempt. Default 10 s.
  broker& connect_timeout(duration bound) & { return settings_.connect_timeout = bound, *this; }
  broker&& connect_timeout(duration bound) && { return std::move(connect_timeout(bound)); }
  /// Bounds the shutdown. Default 5 s.
  broker& close_timeout(duration bound) & { return settings_.close_timeout = bound, *this; }
  broker&& close_timeout(duration bound) && { return std::move(close_timeout(bound)); }
  /// Bounds the opening of one subscription. Default 30 s.
  broker& operation_timeout(duration bound) & { return settings_.operation_timeout = bound, *this; }
  broker&& operation_timeout(duration bound) && { return std::move(operation_timeout(bound)); }
  /// How long a publish waits: for a confirm, for room, for a blocked or lost connection. Default 30 s.
  broker& publish_timeout(duration bound) & { return settings_.publish_timeout = bound, *this; }
  broker&& publish_timeout(duration bound) && { return std::move(publish_timeout(bound)); }
  /// The pause before a lost connection or subscription is tried again doubles from `first` (100 ms) to `most` (10 s),
  /// with jitter.
  broker& backoff(duration first, duration most) &;
  broker&& backoff(duration first, duration most) && { return std::move(backoff(first, most)); }
  /// Logs in with the client's certificate (SASL EXTERNAL) instead of user and password.
  broker& external_login() & { return settings_.external_login = true, *this; }
  broker&& external_login() && { return std::move(external_login()); }
  broker& with_tls(tls_options tls) & { return settings_.tls = std::move(tls), *this; }
  broker&& with_tls(tls_options tls) && { return std::move(with_tls(std::move(tls))); }

  /// Dials, logs in, opens the vhost and the shared publish channel (lifecycle R1). There is no retry: `errc::connect`
  /// within the bound.
  [[nodiscard]] task<result<connected_broker>> connect(runtime& rt) &&;
  /// The same ladder and the same frames against a RabbitMQ in this process: nothing is dialled, any login and vhost is
  /// taken, TLS and the heartbeat are left out. Brokers of one service with the same first host meet there.
  [[nodiscard]] task<result<connected_broker>> connect_in_process(runtime& rt) &&;

  /// Hosts and vhost, without any credential.
  [[nodiscard]] std::string describe() const;

 private:
  detail::broker_settings settings_;
};

inline broker& broker::backoff(duration first, duration most) & {
  settings_.backoff_first = first;
  settings_.backoff_most = most;
  return *this;
}

} // namespace millrace::rabbitmq
