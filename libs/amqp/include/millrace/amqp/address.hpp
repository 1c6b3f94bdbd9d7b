#pragma once

#include <millrace/broker.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::amqp {

/// Who settles a delivery.
enum class settle : std::uint8_t {
  at_least_once, ///< the handler's outcome
  at_most_once,  ///< its receipt: a message is never delivered twice, and lost if its handler fails
};

/// What an address is, where peers tell queues and topics apart: a capability of the link's terminus.
enum class node_kind : std::uint8_t { any, queue, topic };

namespace detail {

/// What a descriptor collects. Internal: written through the setters.
struct source_spec {
  node_kind kind = node_kind::any;
  std::string address;
  std::uint32_t credit = 256;
  amqp::settle mode = amqp::settle::at_least_once;
  duration batch_wait = std::chrono::milliseconds(10);
  std::string selector;
  std::string durable_name;

  [[nodiscard]] result<void> check() const;
};

} // namespace detail

/// The settings that every kind of address has. Each returns the descriptor; a later call overwrites an earlier one.
template <class Self> class address_settings {
 public:
  /// Unsettled deliveries that the peer may have outstanding here, at most: 1 to 2^31 - 1; default 256. The peer sends
  /// no more until some are settled.
  Self& credit(std::uint32_t n) & { return spec_.credit = n, self(); }
  Self&& credit(std::uint32_t n) && { return std::move(credit(n)); }
  /// Default `at_least_once`. On an `at_most_once` subscription settling answers `errc::unsupported`.
  Self& settle(amqp::settle mode) & { return spec_.mode = mode, self(); }
  Self&& settle(amqp::settle mode) && { return std::move(settle(mode)); }
  /// How long a batch handler waits for a full batch, from its first message; default 10 ms.
  Self& batch_wait(duration wait) & { return spec_.batch_wait = wait, self(); }
  Self&& batch_wait(duration wait) && { return std::move(batch_wait(wait)); }
  /// A condition on headers, in the words of SQL-92 as JMS has them: `"region = 'eu' AND size > 10"`. The peer applies
  /// it (ActiveMQ Artemis and Classic and Qpid do; RabbitMQ ignores it, Azure has rules of its own instead).
  Self& selector(std::string condition) & { return spec_.selector = std::move(condition), self(); }
  Self&& selector(std::string condition) && { return std::move(selector(std::move(condition))); }

  /// A router's prefix: in front of the name, behind the last '/' of a path.
  void add_prefix(std::string_view prefix) { spec_.address.insert(spec_.address.rfind('/') + 1, prefix); }

  [[nodiscard]] const std::string& name() const noexcept { return spec_.address; }
  [[nodiscard]] duration batch_wait() const noexcept { return spec_.batch_wait; }
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::addressed, spec_.address}; }
  /// An empty address, no credit, a contradiction: `errc::invalid_address`, without I/O (lifecycle A3).
  [[nodiscard]] result<void> check() const { return spec_.check(); }
  [[nodiscard]] const detail::source_spec& spec() const noexcept { return spec_; }

 private:
  friend Self;
  address_settings(node_kind kind, std::string address) {
    spec_.kind = kind;
    spec_.address = std::move(address);
  }
  Self& self() noexcept { return static_cast<Self&>(*this); }
  detail::source_spec spec_;
};

/// Competing consumers: each message goes to one of them.
class queue : public address_settings<queue> {
 public:
  explicit queue(std::string name) : address_settings(node_kind::queue, std::move(name)) {}
};

/// A copy of each message for every subscription.
class topic : public address_settings<topic> {
 public:
  explicit topic(std::string name) : address_settings(node_kind::topic, std::move(name)) {}
  /// The peer keeps the subscription, under this name and the broker's container id, while nobody reads; a shutdown
  /// detaches from it and does not end it. One reader at a time.
  topic& durable(std::string name) & { return spec_.durable_name = std::move(name), *this; }
  topic&& durable(std::string name) && { return std::move(durable(std::move(name))); }
};

/// The address as the peer has it, without a capability: RabbitMQ's paths (`/queues/orders`), Artemis' fully qualified
/// names (`orders::eu`).
class raw : public address_settings<raw> {
 public:
  explicit raw(std::string address) : address_settings(node_kind::any, std::move(address)) {}
};

} // namespace millrace::amqp
