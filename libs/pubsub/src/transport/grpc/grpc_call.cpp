#include "transport/grpc/grpc_call.hpp"

#include "transport/grpc/callback_scope.hpp"

#include <grpcpp/support/client_callback.h>

namespace millrace::pubsub::detail {
namespace {

template <class Owner> grpc::ByteBuffer buffer_with(std::unique_ptr<Owner> owner, const std::string& bytes) {
  auto* const data = const_cast<char*>(bytes.data()); // gRPC reads a slice, it does not write to it
  const grpc::Slice slice(data, bytes.size(), [](void* held) { delete static_cast<Owner*>(held); }, owner.release());
  return {&slice, 1};
}

/// The whole life of one call.
struct unary_call {
  std::shared_ptr<live_calls> calls; ///< goes last
  grpc::ClientContext context;
  grpc::ByteBuffer request;
  grpc::ByteBuffer response;
  call_done done;
  bool counted = false;
};

void end(std::shared_ptr<unary_call> c) {
  const auto calls = c->calls;
  const bool counted = c->counted;
  if (counted) calls->remove(c->context);
  c.reset();
  if (counted) calls->end();
}

std::string text_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return text;
  text.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices)
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

} // namespace

grpc::ByteBuffer buffer_of(std::shared_ptr<const std::string> body) {
  auto owner = std::make_unique<std::shared_ptr<const std::string>>(std::move(body));
  const std::string& bytes = **owner;
  return buffer_with(std::move(owner), bytes);
}

grpc::ByteBuffer buffer_of(std::string body) {
  auto owner = std::make_unique<std::string>(std::move(body));
  const std::string& bytes = *owner;
  return buffer_with(std::move(owner), bytes);
}

call_status status_of(const grpc::Status& status) {
  return {static_cast<status_code>(status.error_code()), status.error_message(), status.error_details()};
}

gpr_timespec deadline_after(duration bound) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(bound.count(), GPR_TIMESPAN));
}

void start_call(std::shared_ptr<live_calls> calls, const call_request& request, call_done done) {
  auto c = std::make_shared<unary_call>();
  c->calls = std::move(calls);
  c->done = std::move(done);
  c->request = buffer_of(request.body);
  c->context.set_deadline(deadline_after(request.bound));
  c->context.AddMetadata("x-goog-request-params", std::string(request.routing));
  c->counted = c->calls->add(c->context);
  if (!c->counted) c->context.TryCancel(); // it ends at once, with CANCELLED
  unary_call& call = *c;
  auto answered = [c = std::move(c)](const grpc::Status& status) mutable {
    const callback_scope here;
    call_answer answer;
    answer.status = status_of(status);
    if (status.ok()) answer.body = text_of(c->response);
    c->done(std::move(answer));
    end(std::move(c));
  };
  call.calls->stub().UnaryCall(&call.context, std::string(path_of(request.which)), {}, &call.request, &call.response,
                               std::move(answered));
}

} // namespace millrace::pubsub::detail
