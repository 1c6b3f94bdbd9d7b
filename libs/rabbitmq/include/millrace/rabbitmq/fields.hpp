#pragma once

#include <millrace/incoming.hpp>

#include <cstdint>
#include <string_view>

namespace millrace::rabbitmq {

class connected_broker;

/// What a delivery knows of itself. Valid as long as the message.
inline constexpr field_key<std::string_view, connected_broker> exchange;    ///< empty: the default exchange
inline constexpr field_key<std::string_view, connected_broker> routing_key; ///< also `context::subject`
inline constexpr field_key<bool, connected_broker> redelivered;
/// The position on its channel, from 1; only good on that channel.
inline constexpr field_key<std::uint64_t, connected_broker> delivery_tag;

/// The header whose value keeps messages in one keyed lane, in order. A convention of the client; the server ignores
/// it.
inline constexpr std::string_view partition_key_header = "amqp-partition-key";

} // namespace millrace::rabbitmq
