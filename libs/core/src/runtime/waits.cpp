#include <millrace/runtime.hpp>

namespace millrace {

sleep_for::wake_timer::wake_timer(sleep_for& self) noexcept
    : timer(
          [](timer& t) noexcept {
            auto& self = *static_cast<wake_timer&>(t).owner;
            self.runtime_->post(self.resume_);
          },
          kind::cancellable),
      owner(&self) {}

sleep_for::resume_job::resume_job(sleep_for& self) noexcept
    : job([](job& j) noexcept { static_cast<resume_job&>(j).owner->waiter_.resume(); }), owner(&self) {}

sleep_for::sleep_for(runtime& rt, duration d) noexcept : runtime_(&rt), delay_(d), timer_(*this), resume_(*this) {}

void sleep_for::await_suspend(std::coroutine_handle<> waiter) noexcept {
  waiter_ = waiter;
  runtime_->arm(timer_, runtime_->now() + delay_);
}

void sleep_for::await_resume() const {
  if (timer_.cancelled()) throw operation_cancelled{};
}

resume_on::resume_job::resume_job() noexcept
    : job([](job& j) noexcept { static_cast<resume_job&>(j).waiter.resume(); }) {}

resume_on::resume_on(runtime& rt) noexcept : runtime_(&rt) {}

void resume_on::await_suspend(std::coroutine_handle<> waiter) noexcept {
  resume_.waiter = waiter;
  runtime_->post(resume_);
}

} // namespace millrace
