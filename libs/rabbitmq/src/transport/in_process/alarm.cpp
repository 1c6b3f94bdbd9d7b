#include "transport/in_process/alarm.hpp"

#include <utility>

namespace millrace::rabbitmq::detail::in_process {

alarm::alarm(runtime& rt, std::function<void()> ring)
    : timer(&expired), job(&posted), runtime_(&rt), ring_(std::move(ring)) {}

void alarm::expired(timer& t) noexcept {
  auto& self = static_cast<alarm&>(t);
  self.runtime_->post(self);
}

void alarm::posted(job& j) noexcept {
  auto& self = static_cast<alarm&>(j);
  std::shared_ptr<alarm> alive;
  {
    const std::scoped_lock lock(self.mutex_);
    alive = std::move(self.armed_);
  }
  self.ring_();
}

void alarm::set(time_point due) {
  const std::scoped_lock lock(mutex_);
  if (armed_ && (due_ <= due || !runtime_->disarm(*this))) return;
  armed_ = shared_from_this();
  due_ = due;
  runtime_->arm(*this, due);
}

void alarm::cancel() noexcept {
  std::shared_ptr<alarm> last;
  const std::scoped_lock lock(mutex_);
  if (armed_ && runtime_->disarm(*this)) last = std::move(armed_);
}

} // namespace millrace::rabbitmq::detail::in_process
