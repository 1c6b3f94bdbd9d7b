#pragma once

#include "transport/transport.hpp"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::nats::detail::in_process {

/// What was published, shared by everyone who gets it.
struct message {
  std::string subject;
  std::string payload;
  header_map headers;
};
using message_ptr = std::shared_ptr<const message>;

/// A message on its way to one subscription. JetStream delivers under the stored subject, with its ack subject as the
/// reply.
struct envelope {
  message_ptr content;
  std::string reply;
};

[[nodiscard]] message_ptr make_message(const wire_message& m);
[[nodiscard]] message_ptr make_message(std::string_view subject, std::string_view payload);
/// A status as the client shows it: headers "Status" and "Description", and `more`.
[[nodiscard]] message_ptr make_status(std::string_view subject, std::string_view code, std::string_view description,
                                      std::initializer_list<header_map::entry> more = {});

/// Header block and payload, as `max_payload` counts them.
[[nodiscard]] std::size_t wire_size(const wire_message& m) noexcept;
/// The server compares its own header names with their case.
[[nodiscard]] std::string_view exact_header(const message& m, std::string_view name) noexcept;
[[nodiscard]] received to_received(envelope e);

} // namespace millrace::nats::detail::in_process
