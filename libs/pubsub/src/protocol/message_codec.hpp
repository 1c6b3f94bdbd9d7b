#pragma once

#include "protocol/wire_format.hpp"

#include <millrace/bytes.hpp>
#include <millrace/headers.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pubsub::detail {

/// The limits of the service on one message and one request (pubsub 7).
inline constexpr std::size_t most_attributes = 100;
inline constexpr std::size_t longest_key = 256;
inline constexpr std::size_t longest_value = 1024;
inline constexpr std::size_t longest_ordering_key = 1024;
inline constexpr std::size_t largest_message = 10ULL * 1024 * 1024;
inline constexpr std::size_t most_messages = 1000;
inline constexpr std::size_t largest_batch = 9'000'000;

/// A message on its way out; everything is lent.
struct outgoing_message {
  bytes_view payload;
  const header_map* headers = nullptr;
  std::string_view ordering_key;
};

/// Empty: the service takes it. Else why not.
[[nodiscard]] std::string fault_of(const outgoing_message& m);

/// The size of `messages` field 2 of a PublishRequest with this message in it, tag and length included.
[[nodiscard]] std::size_t encoded_size(const outgoing_message& m) noexcept;
void put_message(std::string& to, const outgoing_message& m);

/// The ids of a PublishResponse, in order; nothing if it is malformed.
[[nodiscard]] std::optional<std::vector<std::string_view>> read_message_ids(std::string_view response);

/// One message as it arrived: views into the response.
struct received_view {
  std::string_view ack_id;
  std::string_view message; ///< the whole PubsubMessage
  std::string_view data;
  std::string_view message_id;
  std::string_view ordering_key;
  std::string_view publish_time;
  std::uint32_t delivery_attempt = 0;
};

/// What a StreamingPullResponse holds besides messages.
struct response_facts {
  bool malformed = false;
  bool has_properties = false;
  bool exactly_once = false;
};

/// Reads one ReceivedMessage; false if it is malformed.
[[nodiscard]] bool read_received(std::string_view input, received_view& to) noexcept;

/// Calls `each(received_view)` for every message.
template <class Each> response_facts read_response(std::string_view response, const Each& each) {
  response_facts facts;
  wire_reader in(response);
  wire_field field;
  while (in.next(field)) {
    if (field.number == 1 && field.type == wire_type::bytes) {
      received_view one;
      if (!read_received(field.content, one))
        facts.malformed = true;
      else
        each(one);
    } else if (field.number == 4 && field.type == wire_type::bytes) {
      facts.has_properties = true;
      wire_reader properties(field.content);
      while (properties.next(field))
        if (field.number == 1 && field.type == wire_type::varint) facts.exactly_once = field.value != 0;
    }
  }
  facts.malformed = facts.malformed || in.failed();
  return facts;
}

/// Adds every attribute of an encoded PubsubMessage, the first of a name wins.
void read_attributes(std::string_view message, header_map& to);
/// Seconds and nanoseconds of an encoded Timestamp, as nanoseconds since 1970.
[[nodiscard]] std::int64_t read_timestamp(std::string_view timestamp) noexcept;

} // namespace millrace::pubsub::detail
