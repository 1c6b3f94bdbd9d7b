#include "dispatch/batch_lane.hpp"

#include "dispatch/replies.hpp"
#include "dispatch/settling.hpp"
#include "dispatch/subscription_loop.hpp"

#include <millrace/log.hpp>

#include <algorithm>
#include <utility>

namespace millrace {

batch_lane::deadline_timer::deadline_timer(batch_lane& self) noexcept
    : timer([](timer& t) noexcept {
        batch_lane& self = *static_cast<deadline_timer&>(t).owner;
        self.post(self.deadline_);
      }),
      owner(&self) {}

batch_lane::deadline_job::deadline_job(batch_lane& self) noexcept
    : job([](job& j) noexcept { static_cast<deadline_job&>(j).owner->deadline(); }), owner(&self) {}

batch_lane::batch_lane(subscription_loop& loop, std::unique_ptr<batch_invocation> call)
    : worker(loop), call_(std::move(call), loop.chain(), *loop.environment().rt), timer_(*this), deadline_(*this),
      prepared_end_(*this), handler_end_(*this), settle_end_(*this) {}

void batch_lane::drive() noexcept {
  for (unsigned left = turn_; left > 0; --left) {
    if (!gather() || !handle()) return;
  }
  wake();
}

/// True: `batch` holds what is handled now. False: idle, or waiting for more.
bool batch_lane::gather() noexcept {
  const bool take_all = loop_->plan().batch_wait <= duration::zero() || std::exchange(take_all_, false);
  return loop_->fill(*this, take_all) == subscription_loop::filled::full;
}

/// The deadline counts from the batch's first element. Under the loop's mutex, as the two below; true: a deadline is to
/// come now.
bool batch_lane::begin_wait() noexcept {
  if (std::exchange(deadline_to_come_, true)) return false;
  runtime& rt = *loop_->environment().rt;
  rt.arm(timer_, rt.now() + loop_->plan().batch_wait);
  return true;
}

/// True: no deadline is to come any more. A timer that fires right now still brings its deadline.
bool batch_lane::end_wait() noexcept {
  if (!deadline_to_come_ || !loop_->environment().rt->disarm(timer_)) return false;
  deadline_to_come_ = false;
  return true;
}

void batch_lane::deadline() noexcept {
  if (!loop_->deadline_came(*this)) return;
  take_all_ = true;
  drive();
}

bool batch_lane::run(task<void> work, completion& end) noexcept {
  step_ = std::move(work);
  meeting_.reset();
  step_.start(end);
  return meeting_.leave();
}

bool batch_lane::handle() noexcept {
  call_->begin();
  while (incoming* m = batch.pop()) {
    if (m->discarded()) {
      m->release();
      continue;
    }
    auto added = call_->add(*m);
    if (added)
      elements_.push_back(m);
    else
      rejected_.push_back({m, std::move(added).error()});
  }
  if (rejected_.empty()) return call_handler();
  return run(settle_undecodable(), prepared_end_) && call_handler();
}

void batch_lane::prepared() noexcept {
  if (call_handler()) drive();
}

task<void> batch_lane::settle_undecodable() {
  for (auto& [message, why] : rejected_) {
    co_await settle_element(*loop_, *message, undecodable(why));
    message->release();
  }
  rejected_.clear();
}

bool batch_lane::call_handler() noexcept {
  if (elements_.empty()) {
    finished();
    return true;
  }
  call_->attach(*elements_.front(), elements_.size());
  try {
    if (call_.start(meeting_, handler_end_) == invocation::verdict::suspended) return false;
  } catch (...) {
    failed_ = thrown(std::current_exception());
  }
  return finish();
}

void batch_lane::handler_ended() noexcept {
  try {
    call_.collect();
  } catch (...) {
    failed_ = thrown(std::current_exception());
  }
  if (finish()) drive();
}

bool batch_lane::all_plain() const noexcept { return !failed_ && call_->is_plain() && !loop_->watched(); }

bool batch_lane::finish() noexcept {
  if (all_plain()) [[likely]] {
    for (incoming* m : elements_)
      loop_->retries().settle_plainly(*m, {});
    finished();
    return true;
  }
  if (!run(settle_elements(), settle_end_)) return false;
  finished();
  return true;
}

void batch_lane::settled() noexcept {
  finished();
  drive();
}

void batch_lane::finished() noexcept {
  step_.reset();
  failed_.reset();
  call_->detach();
  for (incoming* m : elements_)
    m->release();
  elements_.clear();
}

/// One outcome for all, or one each. Missing ones retry, so that nothing is lost to a wrong length.
ending batch_lane::element_ending(std::size_t i) {
  ending how;
  if (failed_) {
    how.failure = failed_->failure;
    how.text = failed_->text;
    how.stops_service = failed_->stops_service;
    if (failed_->chosen) how.chosen = outcome(failed_->chosen->kind(), failed_->chosen->delay());
    return how;
  }
  std::vector<outcome>* each = call_->each();
  if (each == nullptr)
    how.chosen = outcome(call_->answer().kind(), call_->answer().delay());
  else if (i < each->size())
    how.chosen = std::move((*each)[i]);
  else
    how.chosen = retry();
  if (call_->failure()) how.text = call_->failure()->message();
  return how;
}

task<void> batch_lane::settle_elements() {
  if (call_->failure()) log_handler_error(*call_->failure());
  if (auto* each = call_->each(); each != nullptr && each->size() != elements_.size()) {
    log(log_level::warning, "subscription '" + loop_->name() + "': the handler answered " +
                                std::to_string(each->size()) + " outcomes for " + std::to_string(elements_.size()) +
                                " messages; the rest is delivered again");
  }
  if (!failed_ && !call_->replies().empty() && call_->answer().kind() == settlement_kind::ack) {
    auto sent = co_await send_batch_replies(loop_->plan(), *call_);
    if (!sent) failed_ = reply_failed(*loop_, sent.error());
  }
  auto hooks = batch_hooks();
  batch_settlement whole;
  const std::uint64_t number = loop_->next_call();
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    ending how = element_ending(i);
    how.call = number;
    how.batch_size = elements_.size();
    if (hooks != nullptr) how.whole = &whole;
    if (settle_at_once(*loop_, *elements_[i], how)) continue;
    co_await settle_element(*loop_, *elements_[i], std::move(how));
  }
  if (hooks != nullptr) run_batch_continuations(*loop_, std::move(whole), std::move(hooks), call_->answer().kind());
}

/// Those of the answer, and those of the context that are not bound to a kind.
std::unique_ptr<detail::settled_hook> batch_lane::batch_hooks() {
  if (failed_) return nullptr;
  take_over(call_->answer(), call_->take_hooks(), std::nullopt);
  return call_->answer().take_continuations();
}

} // namespace millrace
