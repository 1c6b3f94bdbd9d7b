#include "transport/in_process/alarm.hpp"

#include <utility>

namespace millrace::nats::detail::in_process {

alarm::alarm(runtime& rt, std::function<void()> ring)
    : timer([](timer& t) noexcept {
        auto& self = static_cast<alarm&>(t);
        self.runtime_->post(self); // the timer thread runs no receivers
      }),
      job([](job& j) noexcept { static_cast<alarm&>(j).rang(); }), runtime_(&rt), ring_(std::move(ring)) {}

void alarm::set(time_point due) {
  const std::scoped_lock lock(mutex_);
  if (self_ != nullptr && (due >= due_ || !runtime_->disarm(*this))) return; // early enough, or about to ring
  self_ = shared_from_this();
  due_ = due;
  runtime_->arm(*this, due);
}

void alarm::cancel() noexcept {
  std::shared_ptr<alarm> released;
  const std::scoped_lock lock(mutex_);
  if (self_ != nullptr && runtime_->disarm(*this)) released = std::move(self_);
}

void alarm::rang() {
  std::shared_ptr<alarm> self;
  {
    const std::scoped_lock lock(mutex_);
    self = std::move(self_);
  }
  ring_();
}

} // namespace millrace::nats::detail::in_process
