#include "transport/grpc/calls.hpp"

#include "transport/grpc/callback_scope.hpp"

#include <thread>
#include <utility>

namespace millrace::pubsub::detail {
namespace {

/// Destroys a channel on a thread of its own, which the end of the process waits for.
void destroy_elsewhere(grpc::GenericStub channel) {
  static std::mutex mutex;
  static std::jthread last;
  const std::lock_guard lock(mutex);
  last = std::jthread([before = std::move(last), channel = std::move(channel)] {});
}

} // namespace

live_calls::~live_calls() {
  if (callback_scope::inside()) destroy_elsewhere(std::move(stub_));
}

} // namespace millrace::pubsub::detail
