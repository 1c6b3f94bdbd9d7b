#pragma once

namespace millrace::pubsub::detail {

/// Marks a call by one of gRPC's threads. The last channel of a process joins these threads when it is destroyed, so no
/// channel may be destroyed inside.
class callback_scope {
 public:
  callback_scope() noexcept { ++depth; }
  ~callback_scope() { --depth; }
  callback_scope(const callback_scope&) = delete;
  callback_scope& operator=(const callback_scope&) = delete;
  [[nodiscard]] static bool inside() noexcept { return depth > 0; }

 private:
  static inline thread_local unsigned depth = 0;
};

} // namespace millrace::pubsub::detail
