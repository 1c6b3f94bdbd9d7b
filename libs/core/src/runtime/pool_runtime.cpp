#include <millrace/pool_runtime.hpp>
#include <millrace/timer_queue.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace {

struct pool_runtime::state {
  std::mutex jobs_mutex;
  std::condition_variable jobs_ready;
  job* first = nullptr;
  job* last = nullptr;
  unsigned idle = 0;
  bool stopping = false;

  std::mutex timers_mutex;
  std::condition_variable timers_changed;
  std::condition_variable timer_fired;
  timer_queue timers;
  timer* firing = nullptr;
  std::thread::id timer_thread;
  bool timers_cancelled = false;
  bool timers_stopping = false;

  std::mutex exit_mutex;
  std::condition_variable exited;
  unsigned running = 0;

  bool inline_dispatch = false;
  std::vector<std::thread> threads;

  void run_jobs();
  void run_timers();
  void thread_ended();
};

void pool_runtime::state::run_jobs() {
  std::unique_lock lock(jobs_mutex);
  for (;;) {
    if (job* work = first) {
      first = work->next;
      if (first == nullptr) last = nullptr;
      lock.unlock();
      work->run();
      lock.lock();
      continue;
    }
    if (stopping) return;
    ++idle;
    jobs_ready.wait(lock);
    --idle;
  }
}

void pool_runtime::state::run_timers() {
  std::unique_lock lock(timers_mutex);
  timer_thread = std::this_thread::get_id();
  while (!timers_stopping) {
    const auto due = timers.next_due();
    if (!due) {
      timers_changed.wait(lock);
      continue;
    }
    if (timer* t = timers.take_due(std::chrono::steady_clock::now())) {
      firing = t;
      lock.unlock();
      t->fire();
      lock.lock();
      firing = nullptr;
      timer_fired.notify_all();
      continue;
    }
    timers_changed.wait_until(lock, *due);
  }
}

void pool_runtime::state::thread_ended() {
  const std::scoped_lock lock(exit_mutex);
  --running;
  exited.notify_all();
}

pool_runtime::pool_runtime(unsigned threads) : state_(std::make_shared<state>()) {
  state_->inline_dispatch = threads == 0;
  const unsigned workers = threads == 0 ? 1 : threads;
  state_->running = workers + 1;
  const auto launch = [this](void (state::*body)()) {
    state_->threads.emplace_back([s = state_, body] {
      ((*s).*body)();
      s->thread_ended();
    });
  };
  for (unsigned i = 0; i < workers; ++i)
    launch(&state::run_jobs);
  launch(&state::run_timers);
}

pool_runtime::~pool_runtime() { stop(std::chrono::hours(24)); }

void pool_runtime::post(job& work) noexcept {
  work.next = nullptr;
  bool wake = false;
  {
    const std::scoped_lock lock(state_->jobs_mutex);
    if (state_->last != nullptr)
      state_->last->next = &work;
    else
      state_->first = &work;
    state_->last = &work;
    wake = state_->idle > 0;
  }
  if (wake) state_->jobs_ready.notify_one();
}

time_point pool_runtime::now() const noexcept { return std::chrono::steady_clock::now(); }

void pool_runtime::arm(timer& wake, time_point due) noexcept {
  {
    const std::scoped_lock lock(state_->timers_mutex);
    if (!state_->timers_cancelled || !wake.cancellable()) {
      const auto next = state_->timers.next_due();
      state_->timers.arm(wake, due);
      if (!next || due < *next) state_->timers_changed.notify_one();
      return;
    }
  }
  timer_queue::mark_cancelled(wake);
  wake.fire();
}

bool pool_runtime::disarm(timer& wake) noexcept {
  std::unique_lock lock(state_->timers_mutex);
  if (state_->timers.disarm(wake)) return true;
  if (std::this_thread::get_id() == state_->timer_thread) return false; // inside the callback itself
  state_->timer_fired.wait(lock, [&] { return state_->firing != &wake; });
  return false;
}

void pool_runtime::cancel_waits() noexcept {
  std::unique_lock lock(state_->timers_mutex);
  state_->timers_cancelled = true;
  while (timer* t = state_->timers.take_cancelled()) {
    lock.unlock();
    t->fire();
    lock.lock();
  }
}

bool pool_runtime::dispatches_inline() const noexcept { return state_->inline_dispatch; }

bool pool_runtime::stop(duration bound) noexcept {
  if (state_->threads.empty()) return true;
  {
    const std::scoped_lock lock(state_->jobs_mutex);
    state_->stopping = true;
  }
  state_->jobs_ready.notify_all();
  {
    const std::scoped_lock lock(state_->timers_mutex);
    state_->timers_stopping = true;
  }
  state_->timers_changed.notify_all();
  bool clean = false;
  {
    std::unique_lock lock(state_->exit_mutex);
    clean = state_->exited.wait_for(lock, bound, [&] { return state_->running == 0; });
  }
  for (auto& t : state_->threads) {
    if (clean)
      t.join();
    else
      t.detach();
  }
  state_->threads.clear();
  return clean;
}

} // namespace millrace
