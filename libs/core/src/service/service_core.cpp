#include <millrace/log.hpp>
#include <millrace/service_core.hpp>

#include "service/hosted_run.hpp"
#include "service/stop_signals.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace millrace {
namespace {

/// A task that `run` waits for together with signals.
class watched_task : public completion {
 public:
  watched_task(const stop_signals& signals) noexcept
      : completion([](completion& c) noexcept {
          auto& self = static_cast<watched_task&>(c);
          const stop_signals* signals = self.signals_;
          self.done_.store(true); // from here on `self` may be gone
          signals->notify();
        }),
        signals_(&signals) {}

  /// Runs `work` to its end. A second signal ends the process.
  result<void> finish(task<result<void>> work) {
    work.start(*this);
    while (!done_.load()) {
      if (signals_->count() > 1) std::_Exit(static_cast<int>(exit_code::killed) + signals_->last());
      signals_->wait();
    }
    return work.take();
  }

 private:
  const stop_signals* signals_;
  std::atomic<bool> done_ = false;
};

int report(exit_code code, std::string_view what = {}) {
  if (!what.empty()) log(log_level::error, what);
  return static_cast<int>(code);
}

} // namespace

service_core::service_core(service_info info) : info_(std::move(info)) {}
service_core::~service_core() = default;

namespace {

/// No middleware of the plan's chain refuses a batch handler.
result<void> check_batches(const detail::subscription_plan& plan,
                           std::initializer_list<const detail::consume_links*> chain) {
  if (!plan.batch_handler) return {};
  for (const auto* links : chain) {
    for (const auto& link : *links) {
      if (!link.suspending || link.suspending->refuses_batches().empty()) continue;
      return fail(errc::invalid_options,
                  "subscription '" + plan.name + "' takes batches: " + std::string(link.suspending->refuses_batches()));
    }
  }
  return {};
}

} // namespace

result<void> service_core::check() const {
  if (needs_state_ && !make_state_) {
    return fail(errc::invalid_options, "the service has a state type, but no on_startup that builds the state");
  }
  for (const auto& broker : brokers_) {
    for (const auto& plan : broker->plans()) {
      if (auto checked = plan->check(); !checked) return checked;
      auto fits = check_batches(*plan, {&middleware_, &broker->middleware(), &plan->middleware});
      if (!fits) return fits;
    }
  }
  return {};
}

unsigned service_core::thread_count() const noexcept {
  return threads_.value_or(std::max(1U, std::thread::hardware_concurrency()));
}

int service_core::run() {
  const stop_signals signals;
  auto hosted = std::make_unique<hosted_run>(shared_from_this(), thread_count());
  service_run& run = hosted->run();
  run.on_stopping([&signals] { signals.notify(); });
  if (auto started = watched_task(signals).finish(run.start(connect_mode::live)); !started) {
    hosted_run::release(std::move(hosted));
    return report(exit_code::start_failed, started.error().message());
  }
  log(log_level::info, info_.title + " " + info_.version + " is running");
  while (signals.count() == 0 && !run.stopping().is_set())
    signals.wait();
  hosted->rt().keep_moving(shutdown_timeout_);
  auto stopped = watched_task(signals).finish(run.shutdown());
  run.on_stopping({});
  const bool failed_fast = run.failure().has_value();
  hosted_run::release(std::move(hosted));
  if (failed_fast) return report(exit_code::failed_fast, stopped.error().message());
  if (!stopped) return report(exit_code::unclean, stopped.error().message());
  log(log_level::info, info_.title + " stopped");
  return report(exit_code::stopped);
}

result<void> service_core::run_until(task<void> until) {
  auto started = start();
  if (!started) return fail(std::move(started).error());
  running_service running = std::move(*started);
  running.wait_for(std::move(until));
  return running.shutdown();
}

result<running_service> service_core::start() {
  auto hosted = std::make_unique<hosted_run>(shared_from_this(), thread_count());
  hosted->watch_for_stop();
  if (auto started = sync_wait(hosted->run().start(connect_mode::live)); !started) {
    hosted_run::release(std::move(hosted));
    return fail(std::move(started).error());
  }
  return running_service(std::move(hosted));
}

running_service::running_service(std::unique_ptr<hosted_run> hosted) noexcept : hosted_(std::move(hosted)) {}
running_service::running_service(running_service&&) noexcept = default;
running_service& running_service::operator=(running_service&& other) noexcept {
  if (this != &other) {
    if (hosted_) static_cast<void>(shutdown());
    hosted_ = std::move(other.hosted_);
  }
  return *this;
}
running_service::~running_service() {
  if (hosted_) static_cast<void>(shutdown());
}

health_probe running_service::health() const { return hosted_->run().health(); }

void running_service::wait_until_stopping() { hosted_->wait_for_stop(); }

void running_service::wait_for(task<void> until) { hosted_->wait_for_stop_or(std::move(until)); }

result<void> running_service::shutdown() {
  if (!hosted_) return {};
  hosted_->rt().keep_moving(hosted_->run().core().shutdown_bound());
  auto stopped = sync_wait(hosted_->run().shutdown());
  hosted_->give_up_guests();
  hosted_run::release(std::move(hosted_));
  return stopped;
}

} // namespace millrace
