#include "dispatch/subscription_loop.hpp"

#include "dispatch/batch_lane.hpp"
#include "dispatch/lane.hpp"

#include <millrace/log.hpp>

#include <utility>

namespace millrace {

subscription_loop::subscription_loop(detail::subscription_plan& plan, loop_environment environment)
    : plan_(&plan), environment_(std::move(environment)), redelivery_(plan, *environment_.rt, *environment_.background),
      chain_(plan.middleware), health_slot_(environment_.board->add(plan.name)), keyed_(plan.keyed && plan.workers > 1),
      whole_batches_(plan.batch_handler && plan.broker_forms_batches), quiet_(*environment_.rt) {
  const invocation_binding binding{plan.name, environment_.rt, environment_.state, &environment_.stop_service,
                                   &plan.outputs};
  for (unsigned i = 0; i < plan.workers; ++i) {
    if (plan.batch_handler)
      workers_.push_back(std::make_unique<batch_lane>(*this, plan.batch_handler->make(binding)));
    else
      workers_.push_back(std::make_unique<lane>(*this, plan.handler->make(binding)));
    idle_.push_back(workers_.back().get());
  }
  quiet_.set();
  direct_ = plan.workers == 1 && !plan.batch_handler && environment_.rt->dispatches_inline();
}

subscription_loop::~subscription_loop() {
  port_.reset();
  inbox_.release_all();
}

task<result<void>> subscription_loop::open(void* connected) {
  const open_options options = plan_->declared();
  auto opened = co_await plan_->open(connected, *this, options);
  if (!opened) co_return fail(std::move(opened).error().at("subscription '" + plan_->name + "'"));
  port_ = std::move(*opened);
  environment_.board->set_active(health_slot_, true, {});
  co_return result<void>{};
}

task<void> subscription_loop::stop() {
  if (!port_) co_return;
  if (port_->redelivers()) halt();
  co_await port_->stop();
  environment_.board->set_active(health_slot_, false, {});
  if (!halted_.load(std::memory_order_relaxed)) co_return;
  incoming_batch left;
  {
    const std::scoped_lock lock(mutex_);
    left = std::move(inbox_);
    if (gathering_ != nullptr) std::exchange(gathering_, nullptr)->wake();
  }
  left.release_all();
}

task<bool> subscription_loop::drain(time_point due) {
  while (begin_quiet_wait()) {
    const bool set = co_await quiet_.wait_until(due);
    if (!set) break;
  }
  co_return busy() == 0;
}

/// False: no worker works. Else `quiet_` is set when that is so.
bool subscription_loop::begin_quiet_wait() noexcept {
  if (!direct_) return busy() > 0;
  const std::scoped_lock lock(mutex_);
  quiet_.clear();
  return (claim_.fetch_or(draining) & claimed) != 0;
}

std::size_t subscription_loop::busy() const noexcept {
  const std::scoped_lock lock(mutex_);
  if (direct_) return (claim_.load() & claimed) != 0 ? 1 : 0;
  return workers_.size() - idle_.size() + deadlines_;
}

void subscription_loop::interrupted(error why) noexcept {
  log(log_level::warning, "subscription '" + name() + "' is interrupted: " + why.message());
  environment_.board->set_active(health_slot_, false, why.message());
}

void subscription_loop::resumed() noexcept {
  log(log_level::info, "subscription '" + name() + "' is back");
  environment_.board->set_active(health_slot_, true, {});
}

void subscription_loop::ended(error why) noexcept {
  log(log_level::error, "subscription '" + name() + "' ended: " + why.message());
  environment_.board->set_active(health_slot_, false, why.message());
  if (plan_->stop_when_ended) environment_.fail_service(std::move(why).at("subscription '" + name() + "'"));
}

void subscription_loop::dropped(std::uint64_t count) noexcept { environment_.board->add_dropped(health_slot_, count); }

void subscription_loop::refused(std::uint64_t count, error why) noexcept {
  log(log_level::warning, "subscription '" + name() + "': settlements that were refused later, " +
                              std::to_string(count) + ", their messages come again: " + why.message());
  environment_.board->add_refused(health_slot_, count);
}

void subscription_loop::failed_fast(const std::string& why) noexcept {
  halt();
  environment_.fail_service(error(errc::handler, "subscription '" + name() + "': " + why));
}

} // namespace millrace
