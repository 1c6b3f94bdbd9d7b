#pragma once

#include "transport/transport.hpp"

#include <nats/nats.h>

namespace millrace::nats::detail {

/// Takes `message` over. No copy: the views point into the client's message.
[[nodiscard]] received make_received(natsMsg* message) noexcept;

struct destroy_message {
  void operator()(natsMsg* message) const noexcept { natsMsg_Destroy(message); }
};
using message_handle = std::unique_ptr<natsMsg, destroy_message>;

/// A message with headers for the client to send.
[[nodiscard]] result<message_handle> make_natsmsg(const wire_message& message);

} // namespace millrace::nats::detail
