#include <millrace/testing/virtual_runtime.hpp>

#include <millrace/testing/errors.hpp>

#include <string>
#include <utility>

namespace millrace::testing {

virtual_runtime::virtual_runtime(std::chrono::milliseconds external_bound) : external_bound_(external_bound) {}

void virtual_runtime::post(job& work) noexcept {
  const std::scoped_lock lock(mutex_);
  queue(work);
}

/// Under the mutex.
void virtual_runtime::queue(job& work) noexcept {
  work.next = nullptr;
  if (last_ != nullptr)
    last_->next = &work;
  else
    first_ = &work;
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

void virtual_runtime::external_post(job& work) noexcept {
  const std::scoped_lock lock(mutex_);
  queue(work);
  --external_;
}

/// The next job; waits for outside work while some is open. Null: quiescent, or the bound is over: `open` says which.
job* virtual_runtime::take_job(bool& open) {
  std::unique_lock lock(mutex_);
  if (first_ == nullptr && external_ > 0) {
    changed_.wait_for(lock, external_bound_, [this] { return first_ != nullptr || external_ == 0; });
  }
  open = external_ > 0;
  job* work = first_;
  if (work == nullptr) return nullptr;
  first_ = work->next;
  if (first_ == nullptr) last_ = nullptr;
  return work;
}

result<void> virtual_runtime::checked() const { return guard_ ? guard_() : result<void>{}; }

std::unexpected<error> virtual_runtime::still_outside() const {
  return fail(errc::timeout, "outside work did not end within " + std::to_string(external_bound_.count()) + " ms");
}

result<void> virtual_runtime::run(std::size_t max_steps) {
  bool open = false;
  for (std::size_t i = 0; i < max_steps; ++i) {
    job* work = take_job(open);
    if (work == nullptr && open) return still_outside();
    if (work == nullptr) return {};
    work->run();
    if (auto ok = checked(); !ok) return ok;
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
  bool open = false;
  for (std::size_t i = 0; i < default_steps && !done(); ++i) {
    job* work = take_job(open);
    if (work == nullptr) break;
    work->run();
  }
  return done();
}

result<void> virtual_runtime::drive_until(const bool& done) {
  bool open = false;
  for (std::size_t i = 0; i < default_steps && !done; ++i) {
    job* work = take_job(open);
    if (work != nullptr) {
      work->run();
      if (auto ok = checked(); !ok) return ok;
    } else if (open) {
      return still_outside();
    } else if (!step_clock(time_point::max())) {
      return fail(errc::timeout, "a task waits for what cannot happen: nothing is queued and no timer is set");
    }
  }
  if (done) return {};
  return fail(errc::timeout, "a task does not end: more than " + std::to_string(default_steps) + " steps");
}

/// Jobs and timers may still refer to the task, so its frame stays.
void virtual_runtime::give_up(std::unique_ptr<driven> work, error why) {
  abandoned_.push_back(std::move(work));
  throw unfinished_reaction(std::move(why));
}

} // namespace millrace::testing
