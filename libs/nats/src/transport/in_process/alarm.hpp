#pragma once

#include <millrace/runtime.hpp>

#include <functional>
#include <memory>
#include <mutex>

namespace millrace::nats::detail::in_process {

/// Calls `ring` on the runtime at the earliest time it was set to. Owns itself while the runtime refers to it, so its
/// user may go at any time.
class alarm : private timer, private job, public std::enable_shared_from_this<alarm> {
 public:
  alarm(runtime& rt, std::function<void()> ring);
  /// Rings at `due` at the latest. The caller sets it again whenever it rang.
  void set(time_point due);
  void cancel() noexcept;

 private:
  void rang();
  runtime* runtime_;
  std::function<void()> ring_;
  std::mutex mutex_;
  std::shared_ptr<alarm> self_; ///< set while armed or posted
  time_point due_{};
};

} // namespace millrace::nats::detail::in_process
