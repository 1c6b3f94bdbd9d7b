#pragma once

#include <millrace/event.hpp>

#include <grpcpp/client_context.h>

#include <mutex>
#include <unordered_set>

namespace millrace::pubsub::detail {

/// The calls and streams of one channel that are under way, so that a close can end them and wait for their end.
class live_calls {
 public:
  explicit live_calls(runtime& rt) : none_(rt) { none_.set(); }

  /// False: closed, the call must not begin.
  [[nodiscard]] bool add(grpc::ClientContext& context) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    contexts_.insert(&context);
    none_.clear();
    return true;
  }
  void remove(grpc::ClientContext& context) noexcept {
    const std::lock_guard lock(mutex_);
    contexts_.erase(&context);
    if (contexts_.empty()) none_.set();
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
  std::mutex mutex_;
  bool closed_ = false;
  std::unordered_set<grpc::ClientContext*> contexts_;
  event none_;
};

} // namespace millrace::pubsub::detail
