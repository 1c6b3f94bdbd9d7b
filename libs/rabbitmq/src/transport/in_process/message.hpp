#pragma once

#include "transport/in_process/property_list.hpp"
#include "transport/in_process/refusal.hpp"

#include <millrace/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace millrace::rabbitmq::detail::in_process {

/// One published message, shared by the queues that hold it.
struct message {
  std::string exchange;
  std::string routing_key;
  property_list properties;
  std::string body;
  std::optional<duration> expiration;
  int priority = 0;
  bool mandatory = false;

  [[nodiscard]] std::size_t size() const noexcept { return body.size(); }
};
using message_ptr = std::shared_ptr<const message>;

/// Fills in what is read of the properties. Refuses an expiration that is no number of milliseconds.
[[nodiscard]] answer<void> read_properties(message& m);

/// A message in a queue.
struct queued {
  message_ptr what;
  std::uint64_t position = 0; ///< where it returns to
  std::optional<time_point> due;
  std::uint32_t returns = 0;
  bool redelivered = false;
};

} // namespace millrace::rabbitmq::detail::in_process
