#include <millrace/testing/virtual_runtime.hpp>

#include <stdexcept>

namespace millrace::testing {

virtual_runtime::virtual_runtime(std::chrono::milliseconds external_bound) : external_bound_(external_bound) {}

void virtual_runtime::post(job& work) noexcept {
  const std::scoped_lock lock(mutex_);
  work.next = nullptr;
  if (last_ != nullptr) last_->next = &work;
  else first_ = &work;
  last_ = &work;
  changed_.notify_all();
}

time_point virtual_runtime::now() const noexcept {
  const std::scoped_lock lock(mutex_);
  return now_;
}

void virtual_runtime::arm(timer& wake, time_point due) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (!cancelled_ || !wake.cancellable()) return timers_.arm(wake, due);
  }
  timer_queue::mark_cancelled(wake);
  wake.fire();
}

bool virtual_runtime::disarm(timer& wake) noexcept {
  const std::scoped_lock lock(mutex_);
  return timers_.disarm(wake);
}

void virtual_runtime::cancel_waits() noexcept {
  std::unique_lock lock(mutex_);
  cancelled_ = true;
  while (timer* t = timers_.take_cancelled()) {
    lock.unlock();
    t->fire();
    lock.lock();
  }
}

void virtual_runtime::external_begin() noexcept {
  const std::scoped_lock lock(mutex_);
  ++external_;
}

void virtual_runtime::external_end() noexcept {
  const std::scoped_lock lock(mutex_);
  --external_;
  changed_.notify_all();
}

/// The next job; waits for outside work while some is open. Null: quiescent, or the bound is over (`external_` says which).
job* virtual_runtime::take_job() {
  std::unique_lock lock(mutex_);
  if (first_ == nullptr && external_ > 0) {
    changed_.wait_for(lock, external_bound_, [this] { return first_ != nullptr || external_ == 0; });
  }
  job* work = first_;
  if (work == nullptr) return nullptr;
  first_ = work->next;
  if (first_ == nullptr) last_ = nullptr;
  return work;
}

result<void> virtual_runtime::run(std::size_t max_steps) {
  for (std::size_t i = 0; i < max_steps; ++i) {
    job* work = take_job();
    if (work != nullptr) {
      work->run();
      continue;
    }
    const std::scoped_lock lock(mutex_);
    if (external_ == 0) return {};
    return fail(errc::timeout, "outside work did not end within " + std::to_string(external_bound_.count()) + " ms");
  }
  return fail(errc::timeout, "the reaction does not end: more than " + std::to_string(max_steps) + " steps");
}

bool virtual_runtime::step_clock(time_point limit) {
  timer* t = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    const auto due = timers_.next_due();
    if (!due || *due > limit) return false;
    if (*due > now_) now_ = *due;
    t = timers_.take_due(now_);
  }
  t->fire();
  return true;
}

result<void> virtual_runtime::advance(duration d) {
  const time_point limit = now() + d;
  do {
    if (auto quiet = run(); !quiet) return quiet;
  } while (step_clock(limit));
  const std::scoped_lock lock(mutex_);
  if (limit > now_) now_ = limit;
  return {};
}

bool virtual_runtime::run_until(const std::function<bool()>& done) {
  while (!done()) {
    job* work = take_job();
    if (work == nullptr) return done();
    work->run();
  }
  return true;
}

void virtual_runtime::drive_until(const bool& done) {
  while (!run_until([&done] { return done; })) {
    if (!step_clock(time_point::max())) throw std::logic_error("the task waits for something that cannot happen");
  }
}

} // namespace millrace::testing
