// How messages reach the workers of a subscription.
#include "dispatch/batch_lane.hpp"
#include "dispatch/subscription_loop.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace millrace {

/// Puts what arrived where its worker finds it. Under the mutex.
void subscription_loop::accept(incoming_batch batch) noexcept {
  if (!keyed_) {
    if (whole_batches_ && !batch.empty()) batch.last()->ends_batch = true;
    return inbox_.append(std::move(batch));
  }
  while (incoming* m = batch.pop()) {
    const std::string_view key = m->partition_key();
    const std::size_t lane = key.empty() ? rotation_++ : std::hash<std::string_view>{}(key);
    workers_[lane % workers_.size()]->batch.push(*m);
  }
}

/// An idle worker for which something waits, or null. Under the mutex.
worker* subscription_loop::take_wakeable() noexcept {
  worker* w = nullptr;
  if (keyed_) {
    const auto found = std::ranges::find_if(idle_, [](const worker* i) { return !i->batch.empty(); });
    if (found == idle_.end()) return nullptr;
    w = std::exchange(*found, idle_.back());
    idle_.pop_back();
  } else if (inbox_.empty()) {
    return nullptr;
  } else if (gathering_ != nullptr) {
    return std::exchange(gathering_, nullptr);
  } else {
    if (idle_.empty()) return nullptr;
    w = idle_.back();
    idle_.pop_back();
  }
  if (idle_.size() + 1 == workers_.size()) quiet_.clear();
  return w;
}

/// One worker and inline dispatch: whoever claims the worker drives it, and what comes meanwhile waits in the inbox.
void subscription_loop::deliver_direct(incoming_batch batch, bool inline_here) noexcept {
  worker& w = *workers_.front();
  std::uint8_t seen = 0;
  if (inline_here && claim_.compare_exchange_strong(seen, claimed)) [[likely]] {
    w.batch = std::move(batch);
    return w.drive();
  }
  {
    const std::scoped_lock lock(mutex_);
    inbox_.append(std::move(batch));
  }
  if ((claim_.fetch_or(claimed | mail) & claimed) != 0) return;
  if (inline_here)
    w.drive();
  else
    w.wake();
}

incoming* subscription_loop::next_direct(worker& w) noexcept {
  do {
    if (halted_.load(std::memory_order_relaxed)) [[unlikely]]
      w.batch.release_all();
    if (incoming* m = w.batch.pop()) return m;
    std::uint8_t seen = claimed;
    if (claim_.compare_exchange_strong(seen, 0)) [[likely]]
      return nullptr; // the loop may be gone from here on
  } while (take_mail(w));
  return nullptr;
}

/// False: nothing waits, and the worker is idle now.
bool subscription_loop::take_mail(worker& w) noexcept {
  const std::scoped_lock lock(mutex_);
  if (!halted_.load(std::memory_order_relaxed)) w.batch = std::move(inbox_);
  if (!w.batch.empty()) {
    claim_.fetch_and(static_cast<std::uint8_t>(~mail));
    return true;
  }
  if ((claim_.fetch_and(draining) & draining) != 0) quiet_.set();
  return false;
}

void subscription_loop::deliver(incoming_batch batch, deliver_from where) noexcept {
  const bool inline_here = where == deliver_from::io_thread && environment_.rt->dispatches_inline();
  if (direct_) return deliver_direct(std::move(batch), inline_here);
  std::size_t arrived = plan_->batch_size > 0 ? 1 : batch.size();
  std::unique_lock lock(mutex_);
  accept(std::move(batch));
  if (halted_.load(std::memory_order_relaxed)) [[unlikely]]
    return; // it waits for `stop`, which gives it back
  while (inline_here || arrived-- > 0) {
    worker* w = take_wakeable();
    if (w == nullptr) return;
    if (!inline_here) {
      w->wake();
      continue;
    }
    lock.unlock();
    w->drive();
    lock.lock();
  }
}

void subscription_loop::make_idle(worker& w) noexcept {
  idle_.push_back(&w);
  tell_if_quiet();
}

void subscription_loop::tell_if_quiet() noexcept {
  if (idle_.size() == workers_.size() && deadlines_ == 0) quiet_.set();
}

/// Outside the mutex: a broker may deliver what it gets back at once, from this very call.
void subscription_loop::give_back(worker& w) noexcept {
  incoming_batch left;
  {
    const std::scoped_lock lock(mutex_);
    left = std::move(w.batch);
  }
  left.release_all();
}

incoming* subscription_loop::next(worker& w) noexcept {
  if (direct_) return next_direct(w);
  const bool halted = halted_.load(std::memory_order_relaxed);
  const bool alone = workers_.size() == 1;
  if (halted) [[unlikely]] {
    give_back(w);
  } else if (alone) {
    if (incoming* m = w.batch.pop()) return m;
  }
  const std::scoped_lock lock(mutex_);
  incoming* m = nullptr;
  if (!halted) {
    if (alone) w.batch = std::move(inbox_);
    m = alone || keyed_ ? w.batch.pop() : inbox_.pop();
  }
  if (m == nullptr) make_idle(w);
  return m;
}

/// Moves what waits into a batch: up to the size, or to the end of a batch that the broker formed. Under the mutex.
void subscription_loop::take_for(incoming_batch& batch) noexcept {
  const std::size_t size = plan_->batch_size;
  if (!whole_batches_ && batch.size() + inbox_.size() <= size) return batch.append(std::move(inbox_));
  while (batch.size() < size) {
    incoming* m = inbox_.pop();
    if (m == nullptr) return;
    batch.push(*m);
    if (std::exchange(m->ends_batch, false)) return;
  }
}

subscription_loop::filled subscription_loop::fill(batch_lane& w, bool take_all) noexcept {
  const std::size_t size = plan_->batch_size;
  const bool halted = halted_.load(std::memory_order_relaxed);
  if (halted) give_back(w);
  const std::scoped_lock lock(mutex_);
  const bool whole = halted || take_all || whole_batches_;
  if (!halted) take_for(w.batch);
  if (!w.batch.empty() && w.batch.size() < size && !whole) {
    if (w.begin_wait()) ++deadlines_;
    gathering_ = &w;
    return filled::partial;
  }
  if (w.end_wait()) --deadlines_;
  if (w.batch.empty()) {
    make_idle(w);
    return filled::idle;
  }
  if (worker* more = take_wakeable()) more->wake();
  return filled::full;
}

bool subscription_loop::deadline_came(batch_lane& w) noexcept {
  const std::scoped_lock lock(mutex_);
  --deadlines_;
  w.deadline_ran();
  if (gathering_ != &w) {
    tell_if_quiet(); // the batch filled up meanwhile
    return false;
  }
  gathering_ = nullptr;
  return true;
}

} // namespace millrace
