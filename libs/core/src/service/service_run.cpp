#include <millrace/service_run.hpp>

#include "dispatch/subscription_loop.hpp"
#include "service/health_board.hpp"

#include <millrace/log.hpp>

#include <ranges>
#include <utility>

namespace millrace {
namespace {

constexpr duration give_up_bound = std::chrono::seconds(1); // for what a given-up wait wakes: a last copy, a cleanup

} // namespace

service_run::service_run(std::shared_ptr<service_core> core, runtime& rt, observer* watcher)
    : core_(std::move(core)), runtime_(&rt), watcher_(watcher), board_(std::make_shared<detail::health_board>()),
      background_(rt), stopping_(rt) {}

service_run::~service_run() {
  for (auto& broker : core_->brokers_)
    broker->forget_watcher();
}

health_probe service_run::health() const { return health_probe(board_); }

void service_run::on_stopping(std::function<void()> notify) {
  const std::scoped_lock lock(mutex_);
  notify_ = std::move(notify);
}

std::optional<error> service_run::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void service_run::fail(error why) {
  {
    const std::scoped_lock lock(mutex_);
    if (failure_) return; // the first reason counts
    failure_ = why;
  }
  log(log_level::error, "the service stops: " + why.message());
  board_->set_state(service_state::failed, why.message());
  announce_stop();
}

void service_run::announce_stop() {
  std::function<void()> notify;
  {
    const std::scoped_lock lock(mutex_);
    notify = notify_;
  }
  stopping_.set();
  if (notify) notify();
}

task<result<void>> service_run::run_hooks(const std::vector<service_hook>& hooks, const char* kind) {
  for (const auto& hook : hooks) {
    std::string thrown;
    try {
      auto done = co_await hook();
      if (!done) co_return millrace::fail(std::move(done).error().at(kind));
    } catch (const std::exception& e) {
      thrown = e.what();
    } catch (...) {
      thrown = "an exception of unknown type";
    }
    if (!thrown.empty()) co_return millrace::fail(errc::handler, std::string(kind) + ": " + thrown);
  }
  co_return result<void>{};
}

task<void> service_run::run_and_log(const std::vector<service_hook>& hooks, const char* kind) {
  for (const auto& hook : hooks) {
    const std::vector<service_hook> one{hook};
    auto done = co_await run_hooks(one, kind);
    if (!done) log(log_level::error, done.error().message());
  }
}

task<result<void>> service_run::prepare() {
  if (auto checked = core_->check(); !checked) co_return checked;
  auto hooks = co_await run_hooks(core_->on_startup_, "startup hook");
  if (!hooks) co_return hooks;
  if (!core_->make_state_) co_return result<void>{};
  std::string thrown;
  try {
    auto made = co_await core_->make_state_();
    if (!made) co_return millrace::fail(std::move(made).error().at("startup hook"));
    state_ = std::move(*made);
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "an exception of unknown type";
  }
  if (!thrown.empty()) co_return millrace::fail(errc::handler, "startup hook: " + thrown);
  co_return result<void>{};
}

task<result<void>> service_run::connect(connect_mode mode) {
  for (auto& broker : core_->brokers_) {
    auto connected = co_await broker->connect(*runtime_, mode);
    if (!connected) co_return millrace::fail(std::move(connected).error().at("broker '" + broker->name() + "'"));
    auto paired = broker->pair_publishers(*runtime_, watcher_, core_->publish_layers_);
    if (!paired) co_return millrace::fail(std::move(paired).error().at("broker '" + broker->name() + "'"));
  }
  co_return result<void>{};
}

/// Before the first one opens.
result<void> service_run::declare_subscriptions() {
  for (auto& broker : core_->brokers_) {
    for (const auto& plan : broker->plans()) {
      if (!plan->declare) continue;
      auto declared = plan->declare(broker->connected(), plan->declared());
      if (!declared) return millrace::fail(std::move(declared).error().at("subscription '" + plan->name + "'"));
    }
  }
  return {};
}

task<result<void>> service_run::open_subscriptions() {
  if (auto declared = declare_subscriptions(); !declared) co_return declared;
  loop_environment environment;
  environment.rt = runtime_;
  environment.state = state_.get();
  environment.watcher = watcher_;
  environment.board = board_.get();
  environment.background = &background_;
  environment.fail_service = [this](error why) { fail(std::move(why)); };
  environment.stop_service = [this] { announce_stop(); };
  for (auto& broker : core_->brokers_) {
    broker->name_outputs();
    for (const auto& plan : broker->plans()) {
      auto links = core_->middleware_;
      links.insert(links.end(), broker->middleware().begin(), broker->middleware().end());
      plan->middleware.insert(plan->middleware.begin(), links.begin(), links.end());
      loops_.push_back(std::make_unique<subscription_loop>(*plan, environment));
      auto opened = co_await loops_.back()->open(broker->connected());
      if (!opened) co_return opened;
    }
  }
  co_return result<void>{};
}

task<result<void>> service_run::finish_start() {
  for (auto& broker : core_->brokers_) {
    auto hooks = co_await run_hooks(broker->after_startup_hooks(), "after-startup hook");
    if (!hooks) co_return hooks;
  }
  auto hooks = co_await run_hooks(core_->after_startup_, "after-startup hook");
  co_return hooks;
}

task<result<void>> service_run::start_all(connect_mode mode) {
  auto prepared = co_await prepare();
  if (!prepared) co_return prepared;
  auto connected = co_await connect(mode);
  if (!connected) co_return connected;
  auto opened = co_await open_subscriptions();
  if (!opened) co_return opened;
  auto finished = co_await finish_start();
  co_return finished;
}

task<result<void>> service_run::start(connect_mode mode) {
  auto started = co_await start_all(mode);
  if (started) {
    board_->set_state(service_state::running);
    co_return started;
  }
  board_->set_state(service_state::failed, started.error().message());
  co_await stop_subscriptions();
  auto closed = co_await close_brokers();
  if (!closed) log(log_level::error, closed.error().message());
  co_return started;
}

/// Within the timeout: no new deliveries, running handlers, continuations and pending copies.
task<void> service_run::stop_subscriptions() {
  const time_point due = runtime_->now() + core_->shutdown_timeout_;
  for (auto& loop : loops_)
    co_await loop->stop();
  bool quiet = true;
  for (auto& loop : loops_) {
    const bool drained = co_await loop->drain(due);
    quiet = quiet && drained;
  }
  const bool done = co_await background_.drain(due);
  if (!quiet || !done) co_await give_up_waits();
  left_running_ = background_.size();
  for (auto& loop : loops_)
    left_running_ += loop->busy();
}

/// Ends the waits that can be ended and lets what they wake run.
task<void> service_run::give_up_waits() {
  log(log_level::warning, "the shutdown timeout is over: waits are given up");
  for (auto& loop : loops_)
    loop->halt();
  runtime_->cancel_waits();
  const time_point due = runtime_->now() + give_up_bound;
  for (auto& loop : loops_)
    static_cast<void>(co_await loop->drain(due));
  static_cast<void>(co_await background_.drain(due));
}

task<result<void>> service_run::close_brokers() {
  result<void> first;
  for (auto& broker : std::views::reverse(core_->brokers_)) {
    auto closed = co_await broker->shutdown();
    if (closed) continue;
    log(log_level::error, "broker '" + broker->name() + "': " + closed.error().message());
    if (first) first = millrace::fail(std::move(closed).error().at("broker '" + broker->name() + "'"));
  }
  co_return first;
}

task<result<void>> service_run::shutdown() {
  board_->set_state(service_state::stopping);
  co_await run_and_log(core_->on_shutdown_, "shutdown hook");
  co_await stop_subscriptions();
  auto closed = co_await close_brokers();
  co_await run_and_log(core_->after_shutdown_, "after-shutdown hook");
  if (auto why = failure()) co_return millrace::fail(std::move(*why));
  if (left_running_ > 0) {
    std::string what =
        std::to_string(left_running_) + " handlers or copies were left running after the shutdown timeout";
    board_->set_state(service_state::failed, what);
    co_return millrace::fail(errc::shutdown, std::move(what));
  }
  if (!closed)
    board_->set_state(service_state::failed, closed.error().message());
  else
    board_->set_state(service_state::stopped);
  co_return closed;
}

} // namespace millrace
