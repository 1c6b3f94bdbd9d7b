#pragma once

#include "transport/in_process/cloud_host.hpp"
#include "transport/transport.hpp"

namespace millrace::pubsub::detail {

/// A transport to the embedded service: the same requests in the same encoding, answered by jobs of the runtime.
[[nodiscard]] std::shared_ptr<transport> make_in_process_transport(runtime& rt, std::shared_ptr<cloud_host> host);

} // namespace millrace::pubsub::detail
