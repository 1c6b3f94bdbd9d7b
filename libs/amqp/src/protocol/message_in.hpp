#pragma once

#include <millrace/headers.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::amqp::detail {

/// A received message, read where it lies: views into the bytes it was read from.
struct received {
  enum class body_kind : std::uint8_t { bytes, unsupported, malformed };

  bool durable = false;
  std::uint8_t priority = 4;
  bool first_acquirer = false;
  std::uint32_t failed_deliveries = 0;
  std::string_view properties;             ///< the elements of the list
  std::uint32_t properties_count = 0;      //
  std::string_view application_properties; ///< keys and values of the map
  std::string_view payload;
  body_kind body = body_kind::bytes;
};

/// Reads the sections. Several data sections are moved together, inside `bytes`. Never throws, whatever the bytes are.
[[nodiscard]] received read_message(std::string& bytes) noexcept;

/// The properties that have a place of their own, each empty where it is absent.
struct received_properties {
  explicit received_properties(const received& from) noexcept;
  std::string_view to, subject, reply_to, group_id;
};

/// Properties and application properties as headers; an application property wins over the property of its name.
void add_headers(header_map& to, const received& from);

/// The correlation id as text, or false where there is none.
[[nodiscard]] bool correlation_of(const received& from, std::string& out);

/// How often the service itself has sent this message again (`x-millrace-retry-count`); 0 where it says nothing.
[[nodiscard]] std::uint32_t copies_of(const received& from) noexcept;

} // namespace millrace::amqp::detail
