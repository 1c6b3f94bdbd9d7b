#include "dispatch/lane.hpp"

#include "dispatch/settling.hpp"
#include "dispatch/subscription_loop.hpp"

#include <millrace/log.hpp>

namespace millrace {

lane::drive_job::drive_job(lane& self) noexcept
    : job([](job& j) noexcept { static_cast<drive_job&>(j).owner->drive(); }), owner(&self) {}

lane::handler_end::handler_end(lane& self) noexcept
    : completion([](completion& c) noexcept {
        auto& self = static_cast<handler_end&>(c);
        if (self.owner->meeting_.end()) self.owner->loop_->environment().rt->post(self);
      }),
      job([](job& j) noexcept { static_cast<handler_end&>(j).owner->handler_ended(); }), owner(&self) {}

lane::settle_end::settle_end(lane& self) noexcept
    : completion([](completion& c) noexcept {
        auto& self = static_cast<settle_end&>(c);
        if (self.owner->meeting_.end()) self.owner->loop_->environment().rt->post(self);
      }),
      job([](job& j) noexcept {
        lane& self = *static_cast<settle_end&>(j).owner;
        self.finished();
        self.drive();
      }),
      owner(&self) {}

lane::lane(subscription_loop& loop, std::unique_ptr<invocation> call)
    : loop_(&loop), call_(std::move(call)), drive_(*this), handler_end_(*this), settle_end_(*this) {}

lane::~lane() { batch.release_all(); }

void lane::wake() noexcept { loop_->environment().rt->post(drive_); }

void lane::drive() noexcept {
  while (incoming* m = loop_->next(*this)) {
    if (!handle(*m)) return;
  }
}

/// True: the message is finished and the next one may come.
bool lane::handle(incoming& m) noexcept {
  current_ = &m;
  call_->attach(m);
  try {
    switch (call_->start(meeting_, handler_end_)) {
    case invocation::verdict::finished:
      break;
    case invocation::verdict::suspended:
      return false;
    case invocation::verdict::undecodable:
      return finish_with(undecodable());
    }
  } catch (...) {
    return finish_with(thrown(std::current_exception()));
  }
  return finish();
}

void lane::handler_ended() noexcept {
  bool done = false;
  try {
    call_->collect();
    done = finish();
  } catch (...) {
    done = finish_with(thrown(std::current_exception()));
  }
  if (done) drive();
}

bool lane::finish() noexcept {
  context& ctx = call_->ctx();
  const bool plain = call_->answer().kind() == settlement_kind::ack && !call_->answer().has_continuation() &&
                     !ctx.hooks_ && !call_->has_reply() && !call_->failure() && !loop_->watched();
  if (plain) {
    if (auto settled = current_->settle({}); settled || settled.error() == errc::unsupported) [[likely]] {
      finished();
      return true;
    } else {
      log(log_level::warning, "subscription '" + loop_->name() + "': " + settled.error().message());
      finished();
      return true;
    }
  }
  ending how;
  how.chosen = std::move(call_->answer());
  if (call_->failure()) {
    how.text = call_->failure()->message();
    log(log_level::warning, "subscription '" + loop_->name() + "': the handler answered an error: " + how.text);
  }
  return finish_with(std::move(how));
}

bool lane::finish_with(ending how) noexcept {
  settling_ = settle(*loop_, *call_, *current_, std::move(how));
  meeting_.reset();
  settling_.start(settle_end_);
  if (!meeting_.leave()) return false;
  finished();
  return true;
}

void lane::finished() noexcept {
  settling_.reset();
  if (call_->failure()) call_->clear_failure();
  call_->ctx().detach();
  std::exchange(current_, nullptr)->release();
}

ending lane::thrown(const std::exception_ptr& what) noexcept {
  try {
    std::rethrow_exception(what);
  } catch (const operation_cancelled&) {
    ending how;
    how.failure = handled_event::failure::cancelled;
    how.text = "the stopping service gave a wait up";
    return how;
  } catch (const std::exception& e) {
    return by_policy(loop_->plan().on_exception, handled_event::failure::exception, e.what());
  } catch (...) {
    return by_policy(loop_->plan().on_exception, handled_event::failure::exception, "an exception of unknown type");
  }
}

ending lane::undecodable() noexcept {
  return by_policy(loop_->plan().on_undecodable, handled_event::failure::decode, call_->failure()->message());
}

ending lane::by_policy(failure_policy policy, handled_event::failure failure, std::string text) noexcept {
  ending how;
  how.failure = failure;
  const char* what = failure == handled_event::failure::decode ? "undecodable message: " : "handler threw: ";
  log(policy.what() == failure_policy::kind::fail_fast ? log_level::error : log_level::warning,
      "subscription '" + loop_->name() + "': " + what + text);
  switch (policy.what()) {
  case failure_policy::kind::fail_fast:
    how.stops_service = true;
    break;
  case failure_policy::kind::drop:
    how.chosen = drop();
    break;
  case failure_policy::kind::retry:
    how.chosen = retry();
    break;
  case failure_policy::kind::retry_after:
    how.chosen = retry_after(policy.delay());
    break;
  case failure_policy::kind::skip:
    how.chosen = ack();
    break;
  }
  how.text = std::move(text);
  return how;
}

} // namespace millrace
