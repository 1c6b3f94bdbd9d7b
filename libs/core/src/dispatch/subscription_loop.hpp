#pragma once

#include "dispatch/lane.hpp"
#include "dispatch/redelivery.hpp"
#include "service/health_board.hpp"

#include <millrace/event.hpp>
#include <millrace/observer.hpp>
#include <millrace/registration.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace {

/// What a loop needs of the service that runs it.
struct loop_environment {
  runtime* rt = nullptr;
  const void* state = nullptr;
  observer* watcher = nullptr;
  detail::health_board* board = nullptr;
  task_group* background = nullptr;        ///< continuations and pending copies
  std::function<void(error)> fail_service; ///< stops the service with this error; once, from any thread
  std::function<void()> stop_service;      ///< stops it in order; from any thread
};

/// The dispatch of one subscription: takes batches from the broker, hands messages to its lanes, in order, never more
/// at once than the registration's workers. Sequential registrations take a whole batch under one lock.
class subscription_loop final : public sink {
 public:
  subscription_loop(detail::subscription_plan& plan, loop_environment environment);
  ~subscription_loop();

  task<result<void>> open(void* connected);
  /// Stops the broker's side, then lets the lanes end: what the broker can redeliver goes back, what it cannot is
  /// handled.
  task<void> stop();
  /// Answers whether every lane was idle before `due`.
  task<bool> drain(time_point due);
  [[nodiscard]] std::size_t busy() const noexcept;
  /// Ends handling at once: lanes finish the message they have.
  void halt() noexcept { halted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] const std::string& name() const noexcept { return plan_->name; }

  void deliver(incoming_batch batch, deliver_from where) noexcept override;
  void interrupted(error why) noexcept override;
  void resumed() noexcept override;
  void ended(error why) noexcept override;
  void dropped(std::uint64_t count) noexcept override;

  // For the lanes.
  [[nodiscard]] incoming* next(lane& idle) noexcept;
  [[nodiscard]] detail::subscription_plan& plan() noexcept { return *plan_; }
  [[nodiscard]] const loop_environment& environment() const noexcept { return environment_; }
  [[nodiscard]] redelivery& retries() noexcept { return redelivery_; }
  [[nodiscard]] bool watched() const noexcept { return environment_.watcher != nullptr; }
  void failed_fast(const std::string& why) noexcept;

 private:
  [[nodiscard]] lane* take_idle() noexcept;
  void run_inline() noexcept;

  detail::subscription_plan* plan_;
  loop_environment environment_;
  redelivery redelivery_;
  std::unique_ptr<subscription_port> port_;
  std::size_t health_slot_;

  mutable std::mutex mutex_;
  incoming_batch inbox_;
  std::vector<std::unique_ptr<lane>> lanes_;
  std::vector<lane*> idle_;
  std::atomic<bool> halted_ = false;
  event quiet_; ///< set while no lane works and nothing waits
};

} // namespace millrace
