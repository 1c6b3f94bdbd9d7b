#pragma once

#include <millrace/incoming.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace millrace::pubsub {

class connected_broker;

/// The header that is a message's ordering key, in both directions. It never becomes an attribute.
inline constexpr std::string_view partition_key_header = "partition-key";
/// The header that counts the deliveries, from 1, where the subscription has a dead-letter policy. An attribute of this
/// name is hidden by the count, and arrives where there is none.
inline constexpr std::string_view delivery_attempt_header = "pubsub-delivery-attempt";

/// What a delivery knows of itself. Valid until the handler ends.
inline constexpr field_key<std::string_view, connected_broker> message_id;
/// When the service took the message, as the service's clock had it.
inline constexpr field_key<std::chrono::sys_time<std::chrono::nanoseconds>, connected_broker> publish_time;
/// Absent from a message without one.
inline constexpr field_key<std::string_view, connected_broker> ordering_key;
/// From 1; absent where the subscription has no dead-letter policy.
inline constexpr field_key<std::uint32_t, connected_broker> delivery_attempt;

} // namespace millrace::pubsub
