#pragma once

#include "transport/grpc/calls.hpp"
#include "transport/transport.hpp"

namespace millrace::pubsub::detail {

/// A slice over shared bytes; nothing is copied.
[[nodiscard]] grpc::ByteBuffer buffer_of(std::shared_ptr<const std::string> body);
[[nodiscard]] grpc::ByteBuffer buffer_of(std::string body);
[[nodiscard]] call_status status_of(const grpc::Status& status);

/// Deadlines are of gRPC's own clock: the transport is where the injected one ends.
[[nodiscard]] gpr_timespec deadline_after(duration bound);

/// Starts one unary call; `done` is called on a thread of gRPC.
void start_call(std::shared_ptr<live_calls> calls, const call_request& request, call_done done);

[[nodiscard]] std::shared_ptr<pull_stream> start_stream(std::shared_ptr<live_calls> calls, std::string first,
                                                        std::string_view routing,
                                                        std::shared_ptr<stream_events> events);

} // namespace millrace::pubsub::detail
