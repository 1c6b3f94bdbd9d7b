#include "dispatch/lane.hpp"

#include "dispatch/settling.hpp"
#include "dispatch/subscription_loop.hpp"

#include <utility>

namespace millrace {

lane::lane(subscription_loop& loop, std::unique_ptr<invocation> call)
    : worker(loop), call_(std::move(call), loop.chain(), *loop.environment().rt), handler_end_(*this),
      settle_end_(*this) {}

void lane::drive() noexcept {
  for (unsigned left = turn_; left > 0; --left) {
    incoming* m = loop_->next(*this);
    if (m == nullptr) return;
    if (m->discarded()) [[unlikely]]
      m->release();
    else if (!handle(*m))
      return;
  }
  wake();
}

/// True: the message is finished and the next one may come.
bool lane::handle(incoming& m) noexcept {
  current_ = &m;
  call_->attach(m);
  try {
    switch (call_.start(meeting_, handler_end_)) {
    case invocation::verdict::finished:
      break;
    case invocation::verdict::suspended:
      return false;
    case invocation::verdict::undecodable:
      return finish_with(undecodable(*call_->failure()));
    }
  } catch (...) {
    return finish_with(thrown(std::current_exception()));
  }
  return finish();
}

void lane::handler_ended() noexcept {
  bool done = false;
  try {
    call_.collect();
    done = finish();
  } catch (...) {
    done = finish_with(thrown(std::current_exception()));
  }
  if (done) drive();
}

/// A plain acknowledgement that nobody watches is settled here; everything else takes the long way.
bool lane::finish() noexcept {
  if (call_->is_plain() && !loop_->watched()) [[likely]] {
    if (current_->settles()) loop_->retries().settle_plainly(*current_, {});
    finished();
    return true;
  }
  if (call_->is_plain_reply() && !loop_->watched()) return finish_reply();
  ending how;
  how.chosen = std::move(call_->answer());
  if (call_->failure()) {
    how.text = call_->failure()->message();
    log_handler_error(*call_->failure());
  }
  return finish_with(std::move(how));
}

/// A reply that the broker takes at once needs no coroutine.
bool lane::finish_reply() noexcept {
  reply_.emplace(loop_->plan(), *call_, *current_);
  ending how;
  if (reply_->start()) {
    if (reply_->accepted()) [[likely]] {
      reply_.reset();
      if (current_->settles()) loop_->retries().settle_plainly(*current_, {});
      finished();
      return true;
    }
    how = reply_failed(*loop_, reply_->take().error());
    reply_.reset();
  } else {
    how.chosen = ack();
  }
  return finish_with(std::move(how));
}

bool lane::finish_with(ending how) noexcept {
  settling_ = settle_call(*loop_, *call_, *current_, std::move(how), reply_ ? &*reply_ : nullptr);
  meeting_.reset();
  settling_.start(settle_end_);
  if (!meeting_.leave()) return false;
  finished();
  return true;
}

void lane::settled() noexcept {
  finished();
  drive();
}

void lane::finished() noexcept {
  settling_.reset();
  if (reply_) [[unlikely]]
    reply_.reset();
  call_->detach();
  std::exchange(current_, nullptr)->release();
}

} // namespace millrace
