#include "dispatch/subscription_loop.hpp"

#include <millrace/log.hpp>

#include <utility>

namespace millrace {

subscription_loop::subscription_loop(detail::subscription_plan& plan, loop_environment environment)
    : plan_(&plan), environment_(std::move(environment)), redelivery_(plan, *environment_.rt, *environment_.background),
      health_slot_(environment_.board->add(plan.name)), quiet_(*environment_.rt) {
  for (unsigned i = 0; i < plan.workers; ++i) {
    auto call = plan.handler->make();
    call->bind(plan.name, *environment_.rt, environment_.state, environment_.stop_service);
    lanes_.push_back(std::make_unique<lane>(*this, std::move(call)));
    idle_.push_back(lanes_.back().get());
  }
  quiet_.set();
}

subscription_loop::~subscription_loop() {
  port_.reset();
  inbox_.release_all();
}

task<result<void>> subscription_loop::open(void* connected) {
  open_options options;
  options.subscription = plan_->name;
  options.workers = plan_->workers;
  options.max_attempts = plan_->max_attempts;
  options.dead_letter = plan_->dead_letter;
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
  }
  left.release_all();
}

task<bool> subscription_loop::drain(time_point due) {
  while (busy() > 0) {
    const bool set = co_await quiet_.wait_until(due);
    if (!set) break;
  }
  co_return busy() == 0;
}

std::size_t subscription_loop::busy() const noexcept {
  const std::scoped_lock lock(mutex_);
  return lanes_.size() - idle_.size();
}

lane* subscription_loop::take_idle() noexcept {
  if (idle_.empty() || inbox_.empty()) return nullptr;
  lane* l = idle_.back();
  idle_.pop_back();
  return l;
}

void subscription_loop::deliver(incoming_batch batch, deliver_from where) noexcept {
  if (where == deliver_from::io_thread && environment_.rt->dispatches_inline()) {
    {
      const std::scoped_lock lock(mutex_);
      inbox_.append(std::move(batch));
    }
    return run_inline();
  }
  const std::size_t arrived = batch.size();
  const std::scoped_lock lock(mutex_);
  inbox_.append(std::move(batch));
  for (std::size_t i = 0; i < arrived; ++i) {
    lane* l = take_idle();
    if (l == nullptr) return;
    if (idle_.size() + 1 == lanes_.size()) quiet_.clear();
    l->wake();
  }
}

void subscription_loop::run_inline() noexcept {
  for (;;) {
    lane* l = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      l = take_idle();
      if (l == nullptr) return;
      if (idle_.size() + 1 == lanes_.size()) quiet_.clear();
    }
    l->drive();
  }
}

incoming* subscription_loop::next(lane& l) noexcept {
  if (halted_.load(std::memory_order_relaxed)) [[unlikely]]
    l.batch.release_all();
  if (incoming* m = l.batch.pop()) return m;
  bool quiet = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!halted_.load(std::memory_order_relaxed)) {
      if (lanes_.size() > 1) {
        if (incoming* m = inbox_.pop()) return m;
      } else if (!inbox_.empty()) {
        l.batch = std::move(inbox_);
        return l.batch.pop();
      }
    }
    idle_.push_back(&l);
    quiet = idle_.size() == lanes_.size();
    if (quiet) quiet_.set();
  }
  return nullptr;
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

void subscription_loop::failed_fast(const std::string& why) noexcept {
  halt();
  environment_.fail_service(error(errc::handler, "subscription '" + name() + "': " + why));
}

} // namespace millrace
