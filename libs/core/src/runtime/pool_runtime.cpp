#include <millrace/log.hpp>
#include <millrace/pool_runtime.hpp>
#include <millrace/timer_queue.hpp>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace millrace {
namespace {

constexpr duration stall = std::chrono::milliseconds(50);

} // namespace

struct pool_runtime::state : std::enable_shared_from_this<state> {
  std::mutex jobs_mutex;
  std::condition_variable jobs_ready;
  job* first = nullptr;
  job* last = nullptr;
  unsigned idle = 0;
  unsigned waking = 0;   ///< of the idle ones: told to go on
  std::size_t taken = 0; ///< jobs begun, to see whether anything moves
  bool stopping = false;

  std::mutex timers_mutex;
  std::condition_variable timers_changed;
  std::condition_variable timer_fired;
  timer_queue timers;
  timer* firing = nullptr;
  std::thread::id timer_thread;
  bool timers_cancelled = false;
  bool timers_stopping = false;
  time_point asleep_until = time_point::min(); ///< the timer thread waits, at most until then
  std::optional<time_point> next_check;        ///< set: when to look whether the queue moves
  std::size_t taken_at_check = 0;

  std::mutex exit_mutex;
  std::condition_variable exited;
  unsigned running = 0;
  bool stopped = false;

  bool inline_dispatch = false;
  std::vector<std::thread> threads;

  void run_jobs();
  void run_timers();
  void launch(void (state::*body)());
  void relieve() noexcept;
  void thread_ended();
};

void pool_runtime::state::run_jobs() {
  std::unique_lock lock(jobs_mutex);
  for (;;) {
    if (job* work = first) {
      first = work->next;
      if (first == nullptr) last = nullptr;
      ++taken;
      lock.unlock();
      work->run();
      lock.lock();
      continue;
    }
    if (stopping) return;
    ++idle;
    jobs_ready.wait(lock);
    --idle;
    if (waking > 0) --waking;
  }
}

void pool_runtime::state::run_timers() {
  std::unique_lock lock(timers_mutex);
  timer_thread = std::this_thread::get_id();
  while (!timers_stopping) {
    if (next_check && std::chrono::steady_clock::now() >= *next_check) {
      relieve();
      next_check = std::chrono::steady_clock::now() + stall;
    }
    auto due = timers.next_due();
    if (next_check && (!due || *next_check < *due)) due = next_check;
    if (!due) {
      asleep_until = time_point::max();
      timers_changed.wait(lock);
      asleep_until = time_point::min();
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
    asleep_until = *due;
    timers_changed.wait_until(lock, *due);
    asleep_until = time_point::min();
  }
}

void pool_runtime::state::launch(void (state::*body)()) {
  const std::scoped_lock lock(exit_mutex);
  if (stopped) return;
  threads.emplace_back([s = shared_from_this(), body] {
    ((*s).*body)();
    s->thread_ended();
  });
  ++running;
}

/// Starts a thread if work is queued, none is idle and none began anything since the last look.
void pool_runtime::state::relieve() noexcept {
  bool stuck = false;
  {
    const std::scoped_lock lock(jobs_mutex);
    stuck = first != nullptr && idle == 0 && taken == taken_at_check && !stopping;
    taken_at_check = taken;
  }
  if (!stuck) return;
  try {
    launch(&state::run_jobs);
  } catch (const std::system_error& e) {
    log(log_level::warning, std::string("no further thread can be started, what is queued waits: ") + e.what());
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
  for (unsigned i = 0; i < workers; ++i)
    state_->launch(&state::run_jobs);
  state_->launch(&state::run_timers);
}

pool_runtime::~pool_runtime() { stop(std::chrono::hours(24)); }

void pool_runtime::post(job& work) noexcept {
  work.next = nullptr;
  std::shared_ptr<state> woken; // what was posted may destroy the runtime
  {
    const std::scoped_lock lock(state_->jobs_mutex);
    if (state_->last != nullptr)
      state_->last->next = &work;
    else
      state_->first = &work;
    state_->last = &work;
    if (state_->idle > state_->waking) {
      ++state_->waking;
      woken = state_;
    }
  }
  if (woken) woken->jobs_ready.notify_one(); // not under the lock, into which the thread would run
}

time_point pool_runtime::now() const noexcept { return std::chrono::steady_clock::now(); }

void pool_runtime::arm(timer& wake, time_point due) noexcept {
  {
    const std::scoped_lock lock(state_->timers_mutex);
    if (!state_->timers_cancelled || !wake.cancellable()) {
      state_->timers.arm(wake, due);
      if (due < state_->asleep_until) { // a bound that was disarmed leaves the thread asleep until its time
        state_->asleep_until = time_point::min();
        state_->timers_changed.notify_one();
      }
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

void pool_runtime::keep_moving(duration after) noexcept {
  {
    const std::scoped_lock lock(state_->timers_mutex);
    state_->next_check = std::chrono::steady_clock::now() + after;
  }
  state_->timers_changed.notify_all();
}

bool pool_runtime::stop(duration bound) noexcept {
  {
    const std::scoped_lock lock(state_->exit_mutex);
    if (state_->stopped) return state_->running == 0;
  }
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
  std::vector<std::thread> threads;
  bool clean = false;
  {
    std::unique_lock lock(state_->exit_mutex);
    clean = state_->exited.wait_for(lock, bound, [&] { return state_->running == 0; });
    state_->stopped = true;
    threads.swap(state_->threads);
  }
  for (auto& t : threads) {
    if (clean)
      t.join();
    else
      t.detach();
  }
  return clean;
}

} // namespace millrace
