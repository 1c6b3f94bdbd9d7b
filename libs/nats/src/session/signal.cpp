#include "session/signal.hpp"

#include <utility>

namespace millrace::nats::detail {

signal::bound_timer::bound_timer(signal& s) noexcept
    : timer([](timer& t) noexcept { static_cast<bound_timer&>(t).owner->fired(); }), owner(&s) {}

signal::resume_job::resume_job(signal& s) noexcept
    : job([](job& j) noexcept { static_cast<resume_job&>(j).owner->resume(); }), owner(&s) {}

bool signal::is_set() const noexcept {
  const std::lock_guard lock(mutex_);
  return set_;
}

bool signal::resolve() noexcept {
  if (waiter_ == nullptr || resolved_) return false;
  resolved_ = true;
  job_keeps_ = shared_from_this();
  return true;
}

void signal::set() noexcept {
  std::shared_ptr<signal> kept;
  bool queue = false;
  bool armed = false;
  {
    const std::lock_guard lock(mutex_);
    if (set_) return;
    set_ = true;
    armed = std::exchange(armed_, false);
    queue = resolve();
  }
  if (armed) give_up_timer();
  if (queue) runtime_.post(resume_);
}

void signal::give_up_timer() noexcept {
  std::shared_ptr<signal> kept;
  if (!runtime_.disarm(timer_)) return; // it is firing and lets go itself
  const std::lock_guard lock(mutex_);
  kept = std::move(timer_keeps_);
}

void signal::fired() noexcept {
  std::shared_ptr<signal> kept;
  bool queue = false;
  {
    const std::lock_guard lock(mutex_);
    kept = std::move(timer_keeps_);
    armed_ = false;
    queue = resolve();
  }
  if (queue) runtime_.post(resume_);
}

bool signal::suspend(std::coroutine_handle<> handle, duration bound) {
  const std::shared_ptr<signal> self = shared_from_this(); // the awaiter may be gone before this function ends
  {
    const std::lock_guard lock(mutex_);
    if (set_) return false;
    waiter_ = handle;
    resolved_ = false;
    timer_keeps_ = self;
  }
  runtime_.arm(timer_, runtime_.now() + bound);
  bool late = false;
  {
    const std::lock_guard lock(mutex_);
    if (timer_keeps_ != nullptr) {
      late = resolved_;
      armed_ = !resolved_;
    }
  }
  if (late) give_up_timer();
  return true;
}

void signal::resume() noexcept {
  std::shared_ptr<signal> kept;
  std::coroutine_handle<> waiter;
  {
    const std::lock_guard lock(mutex_);
    kept = std::move(job_keeps_);
    waiter = std::exchange(waiter_, nullptr);
  }
  if (waiter != nullptr) waiter.resume();
}

void signal::forget() noexcept {
  const std::lock_guard lock(mutex_);
  waiter_ = nullptr;
}

} // namespace millrace::nats::detail
