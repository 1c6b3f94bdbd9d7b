#include "transport/in_process/subscription.hpp"

#include <utility>

namespace millrace::nats::detail::in_process {

subscription::subscription(runtime& rt, std::shared_ptr<connection_state> owner, std::string_view subject,
                           std::string_view queue, receiver& to)
    : owner_(std::move(owner)), subject_(subject), queue_(queue), receiver_(&to), idle_(rt) {}

void subscription::push(envelope e) {
  owner_->received.fetch_add(1, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  if (!ended_) queued_.push_back(std::move(e));
}

bool subscription::take(envelope& into) noexcept {
  if (ended_ || queued_.empty()) return false;
  into = std::move(queued_.front());
  queued_.pop_front();
  return true;
}

void subscription::deliver() noexcept {
  std::unique_lock lock(mutex_);
  if (busy_) return;
  busy_ = true;
  for (envelope next; take(next);) {
    lock.unlock();
    receiver_->on_message(to_received(std::move(next)), false);
    lock.lock();
  }
  busy_ = false;
  if (draining_) idle_.set();
}

task<bool> subscription::drained(time_point due) {
  {
    const std::scoped_lock lock(mutex_);
    const bool waited_for = std::exchange(draining_, true);
    if (waited_for || (!busy_ && queued_.empty())) co_return true;
  }
  const bool in_time = co_await idle_.wait_until(due);
  co_return in_time;
}

void subscription::end() noexcept {
  std::deque<envelope> discarded;
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  discarded.swap(queued_);
}

} // namespace millrace::nats::detail::in_process
