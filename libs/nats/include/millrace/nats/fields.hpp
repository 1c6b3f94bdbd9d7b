#pragma once

#include <millrace/incoming.hpp>

#include <cstdint>
#include <string_view>

namespace millrace::nats {

/// What a JetStream delivery knows of itself; absent from a core delivery. Valid as long as the message.
inline constexpr field_key<std::string_view> stream;
inline constexpr field_key<std::string_view> consumer;
/// The position in the stream.
inline constexpr field_key<std::uint64_t> stream_sequence;
/// The position in what this consumer was sent.
inline constexpr field_key<std::uint64_t> consumer_sequence;
/// How often it was delivered; the first time is 1.
inline constexpr field_key<std::uint64_t> delivered;
/// How many messages the consumer had still to send behind this one.
inline constexpr field_key<std::uint64_t> pending;

} // namespace millrace::nats
