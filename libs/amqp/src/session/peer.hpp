#pragma once

#include <millrace/amqp/address.hpp>

#include <string>
#include <string_view>

namespace millrace::amqp::detail {

/// What the peer says of itself in `open`, and what follows from it.
struct peer_facts {
  std::string product;
  std::string version;
  /// What this peer wants before the address of a queue or a topic, because it does not look at capabilities.
  std::string queue_prefix;
  std::string topic_prefix;

  /// RabbitMQ's plugin before 4.0 ends the session on `modified`, and never sends a delivery-count.
  [[nodiscard]] bool is_rabbitmq_plugin() const noexcept {
    return product == "RabbitMQ" && (version.starts_with("3.") || version.starts_with("2."));
  }
  [[nodiscard]] bool knows_modified() const noexcept { return !is_rabbitmq_plugin(); }
  [[nodiscard]] bool counts_deliveries() const noexcept { return !is_rabbitmq_plugin(); }
  /// That plugin takes new credit for its queue as it comes, and forgets what is on its way: up to twice as many
  /// arrive.
  [[nodiscard]] bool keeps_to_credit() const noexcept { return !is_rabbitmq_plugin(); }
  /// A session of that plugin may stop before its answer to `end` was written.
  [[nodiscard]] bool answers_every_end() const noexcept { return !is_rabbitmq_plugin(); }
  /// RabbitMQ learned it with 4.1; 4.0 ends the session.
  [[nodiscard]] bool makes_dynamic_nodes() const noexcept {
    return !is_rabbitmq_plugin() && !(product == "RabbitMQ" && version.starts_with("4.0."));
  }
  /// That plugin says that a selector is in place, and delivers everything.
  [[nodiscard]] bool tells_filters_apart() const noexcept { return !is_rabbitmq_plugin(); }
  /// `address` of this kind as the peer knows it.
  [[nodiscard]] std::string full_address(std::string_view address, node_kind kind) const {
    std::string prefix;
    if (kind == node_kind::queue) prefix = queue_prefix;
    if (kind == node_kind::topic) prefix = topic_prefix;
    return address.starts_with(prefix) ? std::string(address) : prefix.append(address);
  }
  [[nodiscard]] std::string text() const { return version.empty() ? product : product + " " + version; }
};

} // namespace millrace::amqp::detail
