#pragma once

#include <millrace/broker.hpp>
#include <millrace/nats/errors.hpp>
#include <millrace/nats/options.hpp>
#include <millrace/nats/publish.hpp>
#include <millrace/nats/sources.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace millrace::nats {

namespace detail {
class connection; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final
}

/// What is left of a connection: the client's counters (lifecycle N5). Acknowledgements, pulls and JetStream calls
/// count as messages too.
class closed_broker {
 public:
  closed_broker(std::uint64_t sent, std::uint64_t received, std::uint64_t connects) noexcept
      : messages_sent(sent), messages_received(received), connects(connects) {}
  std::uint64_t messages_sent;
  std::uint64_t messages_received;
  std::uint64_t connects; ///< 1 and the reconnects
};

/// The server as it announced itself, which may differ from the configured address.
class server_spec {
 public:
  server_spec(std::string address, std::string version, std::size_t max_payload)
      : address(std::move(address)), version(std::move(version)), max_payload(max_payload) {}
  std::string address; ///< host:port
  std::string version; ///< empty where the client does not say
  std::size_t max_payload;
};

/// A live connection. Move-only; the publishers, subscriptions and deliveries made from it may outlive it and then
/// answer errors.
class connected_broker {
 public:
  using closed_type = closed_broker;
  using default_source = subject;
  using default_policy = publish;

  explicit connected_broker(std::shared_ptr<detail::connection> shared) noexcept;
  connected_broker(connected_broker&&) noexcept;
  connected_broker& operator=(connected_broker&&) noexcept;
  ~connected_broker();

  /// A live publisher; no I/O.
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const publish& policy);
  [[nodiscard]] result<std::shared_ptr<publish_port>> pair(const jetstream_publish& policy);

  /// SUB and a flush (lifecycle N3): when it completes, the server has registered the subscription. A subject without
  /// the permission is an error here.
  [[nodiscard]] task<open_result> open(const subject& source, sink& to, const open_options& options);
  [[nodiscard]] task<open_result> open(const wildcard& source, sink& to, const open_options& options);
  /// Looks the stream up, creates or updates the consumer, and pulls (lifecycle N4).
  [[nodiscard]] task<open_result> open(const jetstream& source, sink& to, const open_options& options);
  [[nodiscard]] task<open_result> open(const std::string& subject, sink& to, const open_options& options);

  [[nodiscard]] server_spec server() const;

  /// Marks closed, then drains: subscriptions stop, what was published is sent, the connection closes (lifecycle L3,
  /// N5). Bounded by the drain timeout. An error says what did not take place; the connection is closed in any case.
  [[nodiscard]] task<result<closed_broker>> shutdown() &&;

 private:
  std::shared_ptr<detail::connection> shared_;
};

/// A NATS server or cluster to connect to. Plain configuration (lifecycle L1, N1): nothing is parsed or dialled here.
/// Copies are independent.
class broker {
 public:
  using connected_type = connected_broker;

  /// One address or a comma-separated list: `[nats://|tls://][user:password@]host[:port]`.
  explicit broker(std::string addresses) : addresses_(std::move(addresses)) {}
  broker& with_options(connect_options options) { return options_ = std::move(options), *this; }

  /// Dials (lifecycle N2). `errc::connect`, within the connect timeout, if no server can be reached; there is no retry.
  [[nodiscard]] task<result<connected_broker>> connect(runtime& rt) &&;
  /// The same ladder without a server (lifecycle N7): parses the addresses, reads `no_echo` and the inbox prefix.
  [[nodiscard]] task<result<connected_broker>> connect_in_process(runtime& rt) &&;

  /// The addresses, without any credential.
  [[nodiscard]] std::string describe() const;

 private:
  std::string addresses_;
  connect_options options_;
};

} // namespace millrace::nats
