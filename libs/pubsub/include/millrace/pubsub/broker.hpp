#pragma once

#include <millrace/broker.hpp>
#include <millrace/pubsub/credentials.hpp>
#include <millrace/pubsub/errors.hpp>
#include <millrace/pubsub/fields.hpp>
#include <millrace/pubsub/options.hpp>
#include <millrace/pubsub/publish.hpp>
#include <millrace/pubsub/subscription.hpp>

#include <memory>
#include <string>

namespace millrace::pubsub {

namespace detail {
class connection;
class cloud_host;
} // namespace detail

/// The closed state carries nothing (lifecycle P8).
struct closed_broker {};

/// A live connection: four clients on one channel (lifecycle P2). Move-only; the publishers, subscriptions and
/// deliveries made from it may outlive it and then answer errors.
class connected_broker {
 public:
  using closed_type = closed_broker;
  using default_source = subscription;
  using default_policy = publish;

  explicit connected_broker(std::shared_ptr<detail::connection> shared) noexcept;
  connected_broker(connected_broker&&) noexcept;
  connected_broker& operator=(connected_broker&&) noexcept;
  ~connected_broker();

  /// A live publisher; no I/O. A topic's publisher starts with the first message to it (lifecycle P7).
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const publish& policy);

  /// Checks one registration of many before the first of them opens (P3, P6): its descriptor, and that no other one of
  /// the same subscription declares something else. No I/O.
  [[nodiscard]] result<void> declare(const subscription& source, const open_options& options);

  /// Checks the descriptor (P3, P6), creates or updates what it declares (P4, P5), and opens the streaming pull. A
  /// subscription that is missing or forbidden is an error here.
  [[nodiscard]] task<open_result> open(const subscription& source, sink& to, const open_options& options);

  /// Marks closed, then sends what was batched, publishes and settlements, and waits for the answers (lifecycle L3,
  /// P8), bounded by `shutdown_timeout`. `errc::shutdown` says how many messages had no answer; their publishes answer
  /// an error.
  [[nodiscard]] task<result<closed_broker>> shutdown() &&;

 private:
  std::shared_ptr<detail::connection> shared_;
};

/// A Google Cloud project to connect to. Plain configuration (lifecycle L1, P1): nothing is read or dialled here.
class broker {
 public:
  using connected_type = connected_broker;

  /// The project that short names of topics and subscriptions belong to; full names may name another one.
  explicit broker(std::string project);

  /// Default: Application Default Credentials.
  broker& credentials(pubsub::credentials c) { return settings_.credentials = std::move(c), *this; }
  /// host[:port]; default `pubsub.googleapis.com`. A regional endpoint keeps a key ordered over the publishers of the
  /// region.
  broker& endpoint(std::string host_port) { return settings_.endpoint = std::move(host_port), *this; }
  /// An emulator at host:port: no TLS, no credentials, whatever `endpoint` and `credentials` say. Where neither this
  /// nor they were said, the environment variable `PUBSUB_EMULATOR_HOST` is one.
  broker& emulator(std::string host_port) { return settings_.emulator = std::move(host_port), *this; }
  /// PEM certificates to trust instead of the system's, for an endpoint of one's own.
  broker& root_certificates(std::string pem) { return settings_.root_certificates = std::move(pem), *this; }

  /// How publishes are gathered into requests.
  broker& batches(batching b) { return settings_.batches = b, *this; }
  /// Publish requests of one topic, or of one ordering key, that are under way: the first at most `requests` (8), the
  /// second always 1. Further publishes wait for their turn, until `queued` bytes (100 MiB) wait for a topic; beyond
  /// that one answers `errc::queue_full`.
  broker& publish_flow(std::size_t requests, std::size_t queued);
  /// How long a publish is tried again before it answers an error. Default 60 s.
  broker& publish_timeout(duration d) { return settings_.publish_timeout = d, *this; }
  /// Bounds `connect`. Default 10 s.
  broker& connect_timeout(duration d) { return settings_.connect_timeout = d, *this; }
  /// Bounds the topology and the streaming pull of one subscription at start, retries included. Default 10 s.
  broker& open_timeout(duration d) { return settings_.open_timeout = d, *this; }
  /// Bounds the flush of `shutdown`. Default 10 s.
  broker& shutdown_timeout(duration d) { return settings_.shutdown_timeout = d, *this; }
  /// A connection on which nothing moves is probed this often (default 60 s), and given up when the probe is not
  /// answered within `answer`. Google's servers take no more than a probe every 30 s.
  broker& keepalive(duration d, duration answer = std::chrono::seconds(20));

  /// Reads the credentials and waits until the channel is up; no call to Pub/Sub. `errc::connect` if nobody is there.
  [[nodiscard]] task<result<connected_broker>> connect(runtime& rt) &&;
  /// The same ladder without a server: topics and subscriptions of this process, with the service's own checks. Copies
  /// of one broker share them.
  [[nodiscard]] task<result<connected_broker>> connect_in_process(runtime& rt) &&;

  /// The host, without any credential.
  [[nodiscard]] std::string describe() const;

 private:
  detail::settings settings_;
  std::shared_ptr<detail::cloud_host> inside_;
};

inline broker& broker::keepalive(duration d, duration answer) {
  settings_.keepalive = d;
  settings_.keepalive_answer = answer;
  return *this;
}

inline broker& broker::publish_flow(std::size_t requests, std::size_t queued) {
  settings_.requests = requests;
  settings_.queued_bytes = queued;
  return *this;
}

} // namespace millrace::pubsub
