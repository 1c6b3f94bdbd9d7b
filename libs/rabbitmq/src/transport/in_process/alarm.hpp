#pragma once

#include <millrace/runtime.hpp>

#include <functional>
#include <memory>
#include <mutex>

namespace millrace::rabbitmq::detail::in_process {

/// Calls `ring` on the runtime at the earliest time that it was set to. It owns itself while the runtime refers to it.
class alarm : private timer, private job, public std::enable_shared_from_this<alarm> {
 public:
  alarm(runtime& rt, std::function<void()> ring);
  /// Rings at `due` or before. Whoever it calls sets it again.
  void set(time_point due);
  void cancel() noexcept;

 private:
  static void expired(timer& t) noexcept;
  static void posted(job& j) noexcept;

  runtime* runtime_;
  std::function<void()> ring_;
  std::mutex mutex_;
  std::shared_ptr<alarm> armed_;
  time_point due_{};
};

} // namespace millrace::rabbitmq::detail::in_process
