#include "transport/in_process/cloud_host.hpp"

#include <millrace/pubsub/errors.hpp>

namespace millrace::pubsub::detail {

result<void> cloud_host::choose(mode wanted) {
  const std::lock_guard lock(mutex_);
  if (mode_ == mode::none) mode_ = wanted;
  if (mode_ == wanted) return {};
  return fail(errc::connect, wanted == mode::live ? "a copy of this broker is connected in process"
                                                  : "a copy of this broker is connected to a server");
}

void cloud_host::begin(runtime& rt) {
  const std::lock_guard lock(mutex_);
  if (connected_++ > 0) return;
  clock_ = &rt;
  alarm_ = std::make_unique<alarm>(rt, [this] { tick(); });
  if (cloud_ != nullptr) return;
  cloud::options chosen;
  chosen.implicit = true;
  chosen.clock = [this] { return std::chrono::nanoseconds(clock_->now().time_since_epoch()).count(); };
  cloud_ = std::make_unique<cloud>(std::move(chosen));
}

void cloud_host::end() {
  std::unique_ptr<alarm> last; // outside the lock, which a ring takes
  const std::lock_guard lock(mutex_);
  if (--connected_ == 0) last = std::move(alarm_);
}

void cloud_host::run(time_point now) {
  cloud_->run(now);
  if (alarm_ == nullptr) return;
  if (const auto due = cloud_->next_due()) alarm_->set(*due);
}

void cloud_host::tick() {
  const std::lock_guard lock(mutex_);
  run(clock_->now());
}

} // namespace millrace::pubsub::detail
