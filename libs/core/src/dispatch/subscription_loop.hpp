#pragma once

#include "dispatch/consume_chain.hpp"
#include "dispatch/redelivery.hpp"
#include "dispatch/worker.hpp"
#include "service/health_board.hpp"

#include <millrace/event.hpp>
#include <millrace/observer.hpp>
#include <millrace/registration.hpp>

#include <atomic>
#include <cstdint>
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

class batch_lane;

/// The dispatch of one subscription: takes batches from the broker and gives messages to its workers, never more at
/// once than the registration's workers. One worker: a whole batch under one lock, in order. Keyed: a worker a lane, in
/// order within a key. Batches: up to the size, closed by the size or by a deadline from the first element; or as the
/// broker formed them.
class subscription_loop final : public sink {
 public:
  subscription_loop(detail::subscription_plan& plan, loop_environment environment);
  ~subscription_loop();

  task<result<void>> open(void* connected);
  /// Stops the broker's side, then lets the workers end: what the broker can redeliver goes back, what it cannot is
  /// handled.
  task<void> stop();
  /// Answers whether every worker was idle before `due`.
  task<bool> drain(time_point due);
  [[nodiscard]] std::size_t busy() const noexcept;
  /// Ends handling at once: workers finish what they have begun.
  void halt() noexcept { halted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] const std::string& name() const noexcept { return plan_->name; }

  void deliver(incoming_batch batch, deliver_from where) noexcept override;
  void interrupted(error why) noexcept override;
  void resumed() noexcept override;
  void ended(error why) noexcept override;
  void dropped(std::uint64_t count) noexcept override;
  void refused(std::uint64_t count, error why) noexcept override;

  // For the workers.
  /// The next message, or null: the worker is idle now.
  [[nodiscard]] incoming* next(worker& w) noexcept;
  enum class filled : std::uint8_t { idle, partial, full };
  /// Moves messages into the lane's batch, up to its size. `partial`: the lane waits for more, or for its deadline;
  /// `take_all` makes do with what there is.
  [[nodiscard]] filled fill(batch_lane& w, bool take_all) noexcept;
  /// True: the lane was waiting in `fill` and goes on now.
  [[nodiscard]] bool deadline_came(batch_lane& w) noexcept;
  [[nodiscard]] detail::subscription_plan& plan() noexcept { return *plan_; }
  [[nodiscard]] const loop_environment& environment() const noexcept { return environment_; }
  [[nodiscard]] const consume_chain& chain() const noexcept { return chain_; }
  [[nodiscard]] redelivery& retries() noexcept { return redelivery_; }
  [[nodiscard]] bool watched() const noexcept { return environment_.watcher != nullptr; }
  /// Numbers the calls of the handler, for an observer.
  [[nodiscard]] std::uint64_t next_call() noexcept { return calls_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void failed_fast(const std::string& why) noexcept;

 private:
  void accept(incoming_batch batch) noexcept;
  void deliver_direct(incoming_batch batch, bool inline_here) noexcept;
  [[nodiscard]] incoming* next_direct(worker& w) noexcept;
  [[nodiscard]] bool take_mail(worker& w) noexcept;
  void take_for(incoming_batch& batch) noexcept;
  [[nodiscard]] worker* take_wakeable() noexcept;
  void make_idle(worker& w) noexcept;
  void give_back(worker& w) noexcept;
  void tell_if_quiet() noexcept;
  [[nodiscard]] bool begin_quiet_wait() noexcept;

  detail::subscription_plan* plan_;
  loop_environment environment_;
  redelivery redelivery_;
  consume_chain chain_;
  std::unique_ptr<subscription_port> port_;
  std::size_t health_slot_;
  /// Of the one worker of inline dispatch, which is claimed and given back without the mutex: it works, something waits
  /// in the inbox for it, `drain` wants to know when it is idle.
  enum claim_bit : std::uint8_t { claimed = 1, mail = 2, draining = 4 };
  bool direct_ = false;
  std::atomic<std::uint8_t> claim_ = 0;
  bool keyed_;               ///< with one worker the order is kept anyway
  const bool whole_batches_; ///< each `deliver` is one batch of the handler

  mutable std::mutex mutex_;
  incoming_batch inbox_;
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<worker*> idle_;
  worker* gathering_ = nullptr; ///< has part of a batch and waits for more
  std::size_t deadlines_ = 0;   ///< deadlines of partial batches that are still to come
  std::size_t rotation_ = 0;
  std::atomic<bool> halted_ = false;
  std::atomic<std::uint64_t> calls_ = 0;
  event quiet_; ///< set while no worker works and nothing waits
};

} // namespace millrace
