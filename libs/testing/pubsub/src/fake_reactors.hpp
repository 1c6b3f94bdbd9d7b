#pragma once

#include "fake_state.hpp"

namespace millrace::testing {

[[nodiscard]] grpc::ServerGenericBidiReactor* make_call_reactor(fake_pubsub::state& server, model::method which);
[[nodiscard]] grpc::ServerGenericBidiReactor* make_stream_reactor(fake_pubsub::state& server);

} // namespace millrace::testing
