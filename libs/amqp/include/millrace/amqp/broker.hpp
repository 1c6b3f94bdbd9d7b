#pragma once

#include <millrace/amqp/address.hpp>
#include <millrace/amqp/errors.hpp>
#include <millrace/amqp/options.hpp>
#include <millrace/amqp/publish.hpp>
#include <millrace/broker.hpp>

#include <memory>
#include <string>
#include <utility>

/// AMQP 1.0: ActiveMQ Artemis and Classic, RabbitMQ, Azure Service Bus, Qpid.
namespace millrace::amqp {

namespace detail {
class connection;
class meeting_point;
} // namespace detail

/// What the shutdown left.
class closed_broker {
 public:
  explicit closed_broker(bool orderly) noexcept : orderly_(orderly) {}
  /// Whether links, sessions and the connection were closed with the peer's answers (lifecycle A5); false where the
  /// connection was gone already.
  [[nodiscard]] bool orderly() const noexcept { return orderly_; }

 private:
  bool orderly_;
};

/// A live connection. Move-only; publishers, subscriptions and deliveries made from it may outlive it and then answer
/// `errc::closed` (lifecycle A6, A7). A connection that is lost is restored; see `sink`.
class connected_broker {
 public:
  using closed_type = closed_broker;
  using default_source = raw;
  using default_policy = publish;

  explicit connected_broker(std::shared_ptr<detail::connection> live) noexcept;
  connected_broker(connected_broker&&) noexcept;
  connected_broker& operator=(connected_broker&&) noexcept;
  ~connected_broker();

  /// A live publisher; no I/O (lifecycle A4).
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const publish& policy);
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const transactional_publish& policy);

  /// Begins a session, attaches a receiving link and gives it credit (lifecycle A3). An attach that the peer refuses is
  /// `errc::attach` with the address.
  [[nodiscard]] task<open_result> open(const queue& source, sink& to, const open_options& options);
  [[nodiscard]] task<open_result> open(const topic& source, sink& to, const open_options& options);
  [[nodiscard]] task<open_result> open(const raw& source, sink& to, const open_options& options);
  [[nodiscard]] task<open_result> open(const std::string& address, sink& to, const open_options& options);

  /// Who the peer says it is: "RabbitMQ 3.10.8"; may be empty.
  [[nodiscard]] std::string peer() const;

  /// Marks closed, then takes the connection apart from the inside out: receiving links and their sessions, sending
  /// links, the publishers' session, the connection (lifecycle L3, A5). Each step has its share of `close_timeout`, and
  /// runs even if the one before failed; the innermost error is the answer. A connection that is gone already is no
  /// error.
  [[nodiscard]] task<result<closed_broker>> shutdown() &&;

 private:
  std::shared_ptr<detail::connection> live_;
};

/// A peer to connect to. Plain configuration (lifecycle L1, A1): nothing is parsed or dialled here. A copy shares the
/// connection with the original: whichever connects first dials, the other one gets the same connection (lifecycle A8).
class broker {
 public:
  using connected_type = connected_broker;

  /// `amqp[s]://[user:password@]host[:port][,host[:port]...]`. Several hosts are tried in turn, at the start and after
  /// a loss. Ports default to 5672, and 5671 with TLS. A login in the URL selects SASL PLAIN.
  explicit broker(std::string url);

  /// Wins over a login in the URL.
  broker& with_sasl(sasl profile) & { return settings_.login = std::move(profile), *this; }
  broker&& with_sasl(sasl profile) && { return std::move(with_sasl(std::move(profile))); }
  /// What consoles show, and the beginning of link names. A durable subscription belongs to it and needs one; each
  /// running process needs its own where the peer takes it for an identity (ActiveMQ Classic). Default: "millrace" and
  /// a random part.
  broker& container_id(std::string id) & { return settings_.container_id = std::move(id), *this; }
  broker&& container_id(std::string id) && { return std::move(container_id(std::move(id))); }
  /// The host name in `open`, which some peers take for a tenant; default: the host of the URL.
  broker& virtual_host(std::string name) & { return settings_.virtual_host = std::move(name), *this; }
  broker&& virtual_host(std::string name) && { return std::move(virtual_host(std::move(name))); }
  broker& with_tls(tls_options tls) & { return settings_.tls = std::move(tls), *this; }
  broker&& with_tls(tls_options tls) && { return std::move(with_tls(std::move(tls))); }
  /// A peer that is silent for this long is given up; it is told half of it. 0: never. Default 60 s. What the peer asks
  /// for is honoured in any case.
  broker& idle_timeout(duration bound) & { return settings_.idle_timeout = bound, *this; }
  broker&& idle_timeout(duration bound) && { return std::move(idle_timeout(bound)); }
  /// Bytes of a frame that the peer may send, from 512; default 65,536. Larger messages come in several.
  broker& max_frame_size(std::uint32_t bytes) & { return settings_.max_frame_size = bytes, *this; }
  broker&& max_frame_size(std::uint32_t bytes) && { return std::move(max_frame_size(bytes)); }
  /// A delivery that is larger is rejected, and the subscription goes on; default 64 MiB.
  broker& max_message_size(std::uint64_t bytes) & { return settings_.max_message_size = bytes, *this; }
  broker&& max_message_size(std::uint64_t bytes) && { return std::move(max_message_size(bytes)); }
  /// Bounds `connect`, over all hosts, and each later attempt. Default 10 s.
  broker& connect_timeout(duration bound) & { return settings_.connect_timeout = bound, *this; }
  broker&& connect_timeout(duration bound) && { return std::move(connect_timeout(bound)); }
  /// Bounds the shutdown. Each of its four steps has a share of what is left. Default 8 s.
  broker& close_timeout(duration bound) & { return settings_.close_timeout = bound, *this; }
  broker&& close_timeout(duration bound) && { return std::move(close_timeout(bound)); }
  /// Bounds the opening of one subscription. Default 30 s.
  broker& operation_timeout(duration bound) & { return settings_.operation_timeout = bound, *this; }
  broker&& operation_timeout(duration bound) && { return std::move(operation_timeout(bound)); }
  /// How long a publish waits: for its link, for credit, for the outcome, for a lost connection. Default 30 s.
  broker& publish_timeout(duration bound) & { return settings_.publish_timeout = bound, *this; }
  broker&& publish_timeout(duration bound) && { return std::move(publish_timeout(bound)); }
  /// A sending link that was idle for this long is closed; the next publish attaches another. Default 60 s.
  broker& idle_link(duration bound) & { return settings_.idle_link = bound, *this; }
  broker&& idle_link(duration bound) && { return std::move(idle_link(bound)); }
  /// The pause before a lost connection or subscription is tried again doubles from `first` (100 ms) to `most` (10 s),
  /// with jitter.
  broker& backoff(duration first, duration most) &;
  broker&& backoff(duration first, duration most) && { return std::move(backoff(first, most)); }

  /// Dials, logs in, opens the connection and begins the publishers' session (lifecycle A2). There is no retry:
  /// `errc::connect` within the bound. An error where a copy was connected in process (lifecycle A8).
  [[nodiscard]] task<result<connected_broker>> connect(runtime& rt) &&;
  /// The same ladder without a server: the URL is read as `connect` reads it. The broker inside routes by exact
  /// address, and keeps nothing for an address that nobody reads. An error where a copy was connected to a server.
  [[nodiscard]] task<result<connected_broker>> connect_in_process(runtime& rt) &&;

  /// The hosts, without any credential.
  [[nodiscard]] std::string describe() const;

 private:
  detail::broker_settings settings_;
  std::shared_ptr<detail::meeting_point> meeting_;
};

inline broker& broker::backoff(duration first, duration most) & {
  settings_.backoff_first = first;
  settings_.backoff_most = most;
  return *this;
}

} // namespace millrace::amqp
