#pragma once

#include <millrace/incoming.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::nats::detail {

/// What a JetStream delivery's ack subject says:
/// `$JS.ACK.<stream>.<consumer>.<delivered>.<sseq>.<cseq>.<time>.<pending>` (9 tokens), or with domain and account
/// after `ACK` (11, and 12 with a trailing token of the future).
struct ack_subject {
  std::string_view stream;
  std::string_view consumer;
  std::uint64_t delivered = 0;
  std::uint64_t stream_sequence = 0;
  std::uint64_t consumer_sequence = 0;
  std::uint64_t pending = 0;
};

/// Nothing if `subject` is not such a subject.
[[nodiscard]] std::optional<ack_subject> parse_ack_subject(std::string_view subject) noexcept;
/// What makes a stored message itself and no other.
struct message_identity {
  std::uint64_t stream_sequence = 0;
  std::uint64_t stored_at = 0; ///< when it was stored, to the nanosecond, as a value to compare
};
[[nodiscard]] std::optional<message_identity> identify(std::string_view subject) noexcept;
/// Only the delivered count, the field that every retry cap asks for; 0 if unparsable.
[[nodiscard]] std::uint64_t delivered_count(std::string_view subject) noexcept;

/// The body of an acknowledgement; `storage` holds the ones that are composed.
using ack_storage = std::array<char, 48>;
[[nodiscard]] std::string_view ack_payload(settlement how, ack_storage& storage) noexcept;

} // namespace millrace::nats::detail
