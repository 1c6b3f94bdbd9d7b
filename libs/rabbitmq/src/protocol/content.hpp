#pragma once

#include "protocol/method.hpp"

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>
#include <millrace/headers.hpp>
#include <millrace/rabbitmq/publish.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail {

/// The properties of one message on its way out. All views are lent.
struct message_properties {
  const header_map* headers = nullptr; ///< the names that have a native property go there, the others to the table
  std::string_view content_type;
  std::string_view correlation_id;
  std::string_view reply_to;
  std::string_view expiration;
  std::string_view message_id;
  std::string_view type;
  std::string_view app_id;
  std::int64_t delay = -1; ///< header `x-delay` in milliseconds, where it is not negative
  std::int64_t timestamp = -1;
  int priority = -1;
  std::uint8_t delivery_mode = 1;
  bool has_table = false;

  /// Takes native properties out of `map`. `errc::invalid_options`, naming the header, where one does not fit.
  [[nodiscard]] result<void> take(const header_map& map);
};

/// The decimal text of a duration in whole milliseconds; more than zero and less than one counts as one. In `room`;
/// empty: does not fit 32 bits, which the server refuses.
[[nodiscard]] std::string_view milliseconds_text(duration d, char (&room)[16]) noexcept;

/// Appends basic.publish, the content header and the body frames of one message.
void append_publish(std::string& out, std::uint16_t channel, std::string_view exchange, std::string_view routing_key,
                    bool mandatory, const message_properties& properties, bytes_view payload, std::uint32_t frame_max);

/// The content header's payload: class, weight, body size, then the properties.
struct content_header {
  explicit content_header(reader& in) noexcept {
    (void)in.u32();
    body_size = in.u64();
    properties = in.rest();
  }
  std::uint64_t body_size = 0;
  std::string_view properties;
};

/// The peer's properties; views into the input. What follows a malformed field is absent.
struct received_properties {
  explicit received_properties(std::string_view bytes) noexcept;
  std::string_view content_type;
  std::string_view table;
  std::string_view correlation_id;
  std::string_view reply_to;
  std::string_view expiration;
  std::string_view message_id;
  int priority = -1;
  std::uint8_t delivery_mode = 0;
};

/// Adds properties and the table's strings as headers; integers, nested tables and the like are left out.
void add_headers(header_map& to, const received_properties& from);

/// `x-delivery-count` of a quorum queue, of whatever integer width; 0 where there is none.
[[nodiscard]] std::uint32_t delivery_count_of(std::string_view properties) noexcept;

} // namespace millrace::rabbitmq::detail
