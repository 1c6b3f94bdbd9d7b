#pragma once

#include <millrace/incoming.hpp>

#include <cstdint>
#include <string_view>

namespace millrace::amqp {

class connected_broker;

/// What a delivery knows of itself beside its headers. Valid as long as the message.
inline constexpr field_key<bool, connected_broker> durable;
inline constexpr field_key<std::uint8_t, connected_broker> priority; ///< 4 unless the sender chose one
inline constexpr field_key<bool, connected_broker> first_acquirer;   ///< nobody had it before, as far as the peer knows
inline constexpr field_key<std::string_view, connected_broker> to;   ///< the node that the sender meant; may be empty
inline constexpr field_key<std::string_view, connected_broker>
    message_subject; ///< the `subject` property; may be empty

/// The header whose value keeps messages in one keyed lane, in order. On the wire it is the `group-id` property.
inline constexpr std::string_view partition_key_header = "partition-key";

} // namespace millrace::amqp
