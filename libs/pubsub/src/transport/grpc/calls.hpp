#pragma once

#include <millrace/event.hpp>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace millrace::pubsub::detail {

/// One channel and what is under way on it, so that a close can end that and wait for its end. Every call holds it, and
/// lets go of it last: a `ClientContext` holds the channel too.
class live_calls {
 public:
  live_calls(runtime& rt, std::shared_ptr<grpc::Channel> channel);
  live_calls(const live_calls&) = delete;
  live_calls& operator=(const live_calls&) = delete;
  ~live_calls();

  [[nodiscard]] grpc::GenericStub& stub() noexcept { return stub_; }

  /// False: closed, the call must not begin. Else `remove` while the context lives and `end` after it are due.
  [[nodiscard]] bool add(grpc::ClientContext& context) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    contexts_.insert(&context);
    ++under_way_;
    none_.clear();
    return true;
  }
  void remove(grpc::ClientContext& context) noexcept {
    const std::lock_guard lock(mutex_);
    contexts_.erase(&context);
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    if (--under_way_ == 0) none_.set();
  }
  void cancel_all() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (grpc::ClientContext* context : contexts_)
      context->TryCancel();
  }
  task<void> wait_until_none(time_point due) {
    const bool ended = co_await none_.wait_until(due);
    (void)ended;
  }

 private:
  grpc::GenericStub stub_;
  std::mutex mutex_;
  bool closed_ = false;
  std::unordered_set<grpc::ClientContext*> contexts_;
  std::size_t under_way_ = 0;
  event none_;
};

} // namespace millrace::pubsub::detail
