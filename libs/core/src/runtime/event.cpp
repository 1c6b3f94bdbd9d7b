#include "runtime/detached.hpp"

#include <millrace/event.hpp>
#include <millrace/log.hpp>

#include <condition_variable>
#include <exception>
#include <string>
#include <utility>

namespace millrace {

event::waiter::wake_timer::wake_timer(waiter& self) noexcept
    : timer([](timer& t) noexcept {
        waiter* self = static_cast<wake_timer&>(t).owner;
        event& e = *self->event_;
        auto waiting = reinterpret_cast<std::uintptr_t>(self);
        if (!e.state_.compare_exchange_strong(waiting, unset)) return; // set() was first
        self->timed_out_ = true;
        if (self->second()) e.runtime_->post(self->resume_);
      }),
      owner(&self) {}

event::waiter::resume_job::resume_job(waiter& self) noexcept
    : job([](job& j) noexcept { static_cast<resume_job&>(j).owner->handle_.resume(); }), owner(&self) {}

event::waiter::waiter(event& e, std::optional<time_point> due) noexcept
    : event_(&e), due_(due), timer_(*this), resume_(*this) {}

bool event::waiter::await_suspend(std::coroutine_handle<> handle) noexcept {
  handle_ = handle;
  runtime& rt = *event_->runtime_;
  const auto due = due_;
  auto seen = unset;
  if (!event_->state_.compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(this))) return false; // set
  if (!due) return true; // resumed already, maybe
  rt.arm(timer_, *due);
  if (!second()) return true;
  if (!timed_out_) static_cast<void>(rt.disarm(timer_));
  return false;
}

void event::set() noexcept {
  runtime& rt = *runtime_;
  const std::uintptr_t was = state_.exchange(set_already);
  if (was == unset || was == set_already) return; // the event may be gone
  auto& w = *reinterpret_cast<waiter*>(was);      // NOLINT(performance-no-int-to-ptr)
  if (w.due_) {
    if (!w.second()) return;
    static_cast<void>(rt.disarm(w.timer_));
  }
  rt.post(w.resume_);
}

void event::clear() noexcept {
  auto seen = set_already;
  state_.compare_exchange_strong(seen, unset);
}

bool event::is_set() const noexcept { return state_.load() == set_already; }

detail::detached task_group::run(std::shared_ptr<counted> count, task<void> work, const char* what) {
  std::string failure;
  try {
    co_await std::move(work);
  } catch (const std::exception& e) {
    failure = e.what();
  } catch (const operation_cancelled&) {
    failure = "cancelled by the shutdown";
  } catch (...) {
    failure = "unknown exception";
  }
  if (!failure.empty()) log(log_level::error, std::string(what) + ": " + failure);
  const std::scoped_lock lock(count->mutex);
  if (--count->running == 0) count->empty.set(); // under the lock: a task that starts now must not find it set
}

void task_group::spawn(task<void> work, const char* what) {
  {
    const std::scoped_lock lock(idle_->mutex);
    if (++idle_->running == 1) idle_->empty.clear();
  }
  run(idle_, std::move(work), what);
}

std::size_t task_group::size() const noexcept {
  const std::scoped_lock lock(idle_->mutex);
  return idle_->running;
}

task<bool> task_group::drain(time_point due) {
  const auto count = idle_;
  for (;;) {
    const bool set = co_await count->empty.wait_until(due);
    const std::scoped_lock lock(count->mutex);
    if (count->running == 0) co_return true;
    if (!set) co_return false;
  }
}

struct detail::blocking_completion::state {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

detail::blocking_completion::blocking_completion() noexcept
    : completion([](completion& c) noexcept {
        auto& state = *static_cast<blocking_completion&>(c).state_;
        const std::scoped_lock lock(state.mutex);
        state.done = true;
        state.changed.notify_all();
      }),
      state_(std::make_unique<state>()) {}

detail::blocking_completion::~blocking_completion() = default;

void detail::blocking_completion::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->done; });
}

} // namespace millrace
