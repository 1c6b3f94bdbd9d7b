#pragma once

#include <cstdint>
#include <string>

namespace millrace::amqp::detail {

/// What the peer says of itself in `open`, and what follows from it.
struct peer_facts {
  std::string product;
  std::string version;

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
  [[nodiscard]] bool makes_dynamic_nodes() const noexcept { return !is_rabbitmq_plugin(); }
  [[nodiscard]] std::string text() const { return version.empty() ? product : product + " " + version; }
};

} // namespace millrace::amqp::detail
