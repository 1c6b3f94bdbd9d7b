#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct pn_delivery_t;

namespace millrace::amqp::detail {

/// What the peer made of a message that was sent.
struct publish_outcome {
  enum class kind : std::uint8_t { pending, accepted, other };
  kind how = kind::pending;
  std::string text; ///< "rejected: amqp:resource-limit-exceeded: full"
};

[[nodiscard]] publish_outcome read_outcome(pn_delivery_t* d);

/// Marks a transfer, not sent yet, as part of a transaction.
void post_under(pn_delivery_t* d, std::string_view transaction);

/// The id in a `declared` state; empty: it is none.
[[nodiscard]] std::string declared_id(pn_delivery_t* d);

/// How a received message is settled.
enum class verdict : std::uint8_t { accept, release, modify, reject };
void settle_as(pn_delivery_t* d, verdict how);

} // namespace millrace::amqp::detail
