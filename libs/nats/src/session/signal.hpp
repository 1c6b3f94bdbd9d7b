#pragma once

#include <millrace/runtime.hpp>

#include <coroutine>
#include <memory>
#include <mutex>

namespace millrace::nats::detail {

/// One event, set once from any thread, for one waiting coroutine at a time. Shared: whoever sets it may outlive who
/// waits. `co_await s->wait(bound)` is true if it was set, false if the bound ran out on the injected clock. A runtime
/// that gives its waits up (`cancel_waits`) does not end this one: what sets it is bounded by itself.
class signal : public std::enable_shared_from_this<signal> {
 public:
  explicit signal(runtime& rt) noexcept : runtime_(rt), timer_(*this), resume_(*this) {}

  /// The second and later calls do nothing.
  void set() noexcept;
  [[nodiscard]] bool is_set() const noexcept;

  class waiter {
   public:
    waiter(std::shared_ptr<signal> owner, duration bound) noexcept : owner_(std::move(owner)), bound_(bound) {}
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    /// A coroutine that is destroyed while it waits is not resumed.
    ~waiter() { owner_->forget(); }
    [[nodiscard]] bool await_ready() const noexcept { return owner_->is_set(); }
    bool await_suspend(std::coroutine_handle<> handle) { return owner_->suspend(handle, bound_); }
    [[nodiscard]] bool await_resume() const noexcept { return owner_->is_set(); }

   private:
    std::shared_ptr<signal> owner_;
    duration bound_;
  };
  [[nodiscard]] waiter wait(duration bound) noexcept { return waiter(shared_from_this(), bound); }

 private:
  struct bound_timer : timer {
    explicit bound_timer(signal& owner) noexcept;
    signal* owner;
  };
  struct resume_job : job {
    explicit resume_job(signal& owner) noexcept;
    signal* owner;
  };
  bool suspend(std::coroutine_handle<> handle, duration bound);
  void fired() noexcept;
  void forget() noexcept;
  [[nodiscard]] bool resolve() noexcept;
  void give_up_timer() noexcept;
  void resume() noexcept;

  runtime& runtime_;
  mutable std::mutex mutex_;
  bool set_ = false;
  bool armed_ = false;
  bool resolved_ = false; ///< the present wait has its answer
  std::coroutine_handle<> waiter_;
  std::shared_ptr<signal> timer_keeps_; ///< while armed
  std::shared_ptr<signal> job_keeps_;   ///< while the resumption is queued
  bound_timer timer_;
  resume_job resume_;
};

} // namespace millrace::nats::detail
