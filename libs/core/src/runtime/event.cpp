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
        if (e.take_waiter() != self) return; // set() was first
        self->timed_out_ = true;
        e.runtime_->post(self->resume_);
      }),
      owner(&self) {}

event::waiter::resume_job::resume_job(waiter& self) noexcept
    : job([](job& j) noexcept { static_cast<resume_job&>(j).owner->handle_.resume(); }), owner(&self) {}

event::waiter::waiter(event& e, std::optional<time_point> due) noexcept
    : event_(&e), due_(due), timer_(*this), resume_(*this) {}

bool event::waiter::await_suspend(std::coroutine_handle<> handle) noexcept {
  handle_ = handle;
  event& e = *event_;
  const std::scoped_lock lock(e.mutex_);
  if (e.set_) return false;
  if (due_) e.runtime_->arm(timer_, *due_);
  e.waiting_ = this;
  return true;
}

event::waiter* event::take_waiter() noexcept {
  const std::scoped_lock lock(mutex_);
  return std::exchange(waiting_, nullptr);
}

void event::set() noexcept {
  waiter* w = nullptr;
  runtime* rt = runtime_;
  {
    const std::scoped_lock lock(mutex_);
    set_ = true;
    w = std::exchange(waiting_, nullptr);
  }
  if (w == nullptr) return;
  if (w->due_) rt->disarm(w->timer_);
  rt->post(w->resume_);
}

void event::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  set_ = false;
}

bool event::is_set() const noexcept {
  const std::scoped_lock lock(mutex_);
  return set_;
}

struct task_group::detached {
  struct promise_type {
    static void* operator new(std::size_t size) { return detail::allocate_frame(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { detail::free_frame(frame, size); }
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

task_group::detached task_group::run(std::shared_ptr<counted> count, task<void> work, const char* what) {
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
