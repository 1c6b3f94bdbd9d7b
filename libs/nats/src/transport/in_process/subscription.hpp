#pragma once

#include "transport/in_process/message.hpp"

#include <millrace/event.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

namespace millrace::nats::detail::in_process {

/// What the server knows of one client connection.
struct connection_state {
  std::uint64_t id = 0;
  bool echo = true;
  std::atomic<std::uint64_t> received{0};
};

/// One SUB: a queue in server order, emptied outside the server's lock by one thread at a time.
class subscription {
 public:
  subscription(runtime& rt, std::shared_ptr<connection_state> owner, std::string_view subject, std::string_view queue,
               receiver& to);

  [[nodiscard]] const std::string& subject() const noexcept { return subject_; }
  [[nodiscard]] const std::string& queue() const noexcept { return queue_; }
  [[nodiscard]] const connection_state& owner() const noexcept { return *owner_; }

  void push(envelope e);
  /// Calls the receiver until the queue is empty. Returns at once if a call is under way: that thread goes on.
  void deliver() noexcept;
  /// Completes when the queue is empty and no call is under way; false if `due` came first. Nothing is pushed any more.
  task<bool> drained(time_point due);
  /// No call begins after this.
  void end() noexcept;

  bool touched = false; ///< listed for delivery; guarded by the server's lock

 private:
  bool take(envelope& into) noexcept;
  std::shared_ptr<connection_state> owner_;
  std::string subject_;
  std::string queue_;
  receiver* receiver_;
  std::mutex mutex_;
  std::deque<envelope> queued_;
  event idle_;
  bool busy_ = false;
  bool ended_ = false;
  bool draining_ = false;
};
using subscription_ptr = std::shared_ptr<subscription>;

} // namespace millrace::nats::detail::in_process
