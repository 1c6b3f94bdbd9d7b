#include "dispatch/worker.hpp"

#include "dispatch/chained_call.hpp"
#include "dispatch/subscription_loop.hpp"

#include <millrace/log.hpp>

#include <limits>

namespace millrace {
namespace {

constexpr unsigned steps_a_turn = 128;

} // namespace

worker::worker(subscription_loop& loop) noexcept
    : loop_(&loop),
      turn_(loop.environment().rt->dispatches_inline() ? std::numeric_limits<unsigned>::max() : steps_a_turn),
      drive_(*this) {}

worker::drive_job::drive_job(worker& self) noexcept
    : job([](job& j) noexcept { static_cast<drive_job&>(j).owner->drive(); }), owner(&self) {}

void worker::wake() noexcept { post(drive_); }

void worker::post(job& work) noexcept { loop_->environment().rt->post(work); }

ending worker::thrown(const std::exception_ptr& what) noexcept {
  try {
    std::rethrow_exception(what);
  } catch (const operation_cancelled&) {
    ending how;
    how.failure = handled_event::failure::cancelled;
    how.text = "the stopping service gave a wait up";
    return how;
  } catch (const undecodable_message& m) {
    return undecodable(m.why);
  } catch (const std::exception& e) {
    return by_policy(loop_->plan().on_exception, handled_event::failure::exception, e.what());
  } catch (...) {
    return by_policy(loop_->plan().on_exception, handled_event::failure::exception, "an exception of unknown type");
  }
}

ending worker::undecodable(const error& why) noexcept {
  return by_policy(loop_->plan().on_undecodable, handled_event::failure::decode, why.message());
}

void worker::log_handler_error(const error& why) noexcept {
  log(log_level::warning, "subscription '" + loop_->name() + "': the handler answered an error: " + why.message());
}

ending worker::by_policy(failure_policy policy, handled_event::failure failure, std::string text) noexcept {
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
