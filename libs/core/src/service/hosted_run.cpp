#include "service/hosted_run.hpp"

#include <millrace/log.hpp>

#include <mutex>
#include <vector>

namespace millrace {
namespace {

struct left_behind {
  std::mutex mutex;
  std::vector<std::unique_ptr<hosted_run>> runs;
};
left_behind& graveyard() {
  static auto* instance = new left_behind; // never destroyed: threads may outlive static destruction
  return *instance;
}

constexpr duration stop_bound = std::chrono::seconds(2);
constexpr duration give_up_bound = std::chrono::seconds(1);

} // namespace

void hosted_run::wake() noexcept {
  const std::scoped_lock lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void hosted_run::watch_for_stop() {
  run_.on_stopping([this] { wake(); });
}

void hosted_run::wait_for_stop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return over_; });
}

task<void> hosted_run::then_wake(task<void> work) {
  struct at_end {
    hosted_run* self;
    ~at_end() { self->wake(); }
  } const waker{this};
  try {
    co_await std::move(work);
  } catch (const operation_cancelled&) { // NOLINT(bugprone-empty-catch): the service stopped first
  }
}

void hosted_run::wait_for_stop_or(task<void> until) {
  guests_.spawn(then_wake(std::move(until)), "run_until");
  wait_for_stop();
}

void hosted_run::give_up_guests() {
  if (guests_.size() == 0) return;
  rt_.cancel_waits();
  const bool ended = sync_wait(guests_.drain(rt_.now() + give_up_bound));
  if (!ended) log(log_level::warning, "run_until: its task waits for something that the stopping service cannot end");
}

void hosted_run::release(std::unique_ptr<hosted_run> run) noexcept {
  if (!run) return;
  const bool left = run->run_.left_running() > 0 || run->guests_.size() > 0;
  const bool ended = run->rt_.stop(left ? duration::zero() : stop_bound);
  if (ended && !left) return;
  auto& left_runs = graveyard();
  const std::scoped_lock lock(left_runs.mutex);
  left_runs.runs.push_back(std::move(run));
}

} // namespace millrace
