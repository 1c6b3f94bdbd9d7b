#pragma once

#include "transport/grpc/handover.hpp"

namespace millrace::pubsub::detail {

/// Marks a call by one of gRPC's threads. The last channel of a process joins these threads when it is destroyed, so no
/// channel may be destroyed inside. `of` is what OnDone takes over in the end.
class callback_scope {
 public:
  explicit callback_scope(void* of = nullptr) noexcept : of_(of) { ++depth; }
  ~callback_scope() {
    --depth;
    if (of_ != nullptr) handed_over(of_);
  }
  callback_scope(const callback_scope&) = delete;
  callback_scope& operator=(const callback_scope&) = delete;
  [[nodiscard]] static bool inside() noexcept { return depth > 0; }

 private:
  void* of_;
  static inline thread_local unsigned depth = 0;
};

} // namespace millrace::pubsub::detail
