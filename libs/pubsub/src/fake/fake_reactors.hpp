#pragma once

#include "fake/fake_state.hpp"

namespace millrace::pubsub {

[[nodiscard]] grpc::ServerGenericBidiReactor* make_call_reactor(fake_server::state& server, detail::method which);
[[nodiscard]] grpc::ServerGenericBidiReactor* make_stream_reactor(fake_server::state& server);

} // namespace millrace::pubsub
