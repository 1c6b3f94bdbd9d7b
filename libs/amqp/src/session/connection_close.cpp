#include "session/connection.hpp"

#include <proton/connection.h>
#include <proton/session.h>

#include <algorithm>

namespace millrace::amqp::detail {
namespace {

constexpr duration end_patience = std::chrono::milliseconds(200); ///< for an answer that may never come

} // namespace

// Lifecycle A5: from the inside out, so that each outer layer still carries the peer's answers to the inner one.

void connection::begin_close(std::shared_ptr<outcome_of> closing) {
  closing_.push_back(std::move(closing));
  if (state_ == state::closing) return;
  if (state_ != state::ready) return finish_close(false);
  take_work(); // what was settled and published before still goes out
  state_ = state::closing;
  step_ = close_step::receivers;
  close_due_ = hub_->clock.now() + hub_->settings.close_timeout;
  start_step();
  step_done();
}

void connection::start_step() {
  const time_point now = hub_->clock.now();
  const int steps_left = 4 - static_cast<int>(step_);
  step_due_ = now + std::max(close_due_ - now, duration::zero()) / steps_left;
  const auto consumers = consumers_; // one that was still opening goes at once
  const auto links = links_;
  switch (step_) {
  case close_step::receivers:
    for (const auto& c : consumers)
      c->begin_close(*this);
    return;
  case close_step::senders:
    for (const auto& l : links)
      l->begin_close(*this);
    return;
  case close_step::session:
    if (publish_session_ != nullptr) pn_session_close(publish_session_);
    return;
  case close_step::connection:
    pn_connection_close(engine_->connection());
    return;
  }
}

bool connection::step_complete() const noexcept {
  switch (step_) {
  case close_step::receivers:
    return std::ranges::all_of(consumers_, [](const auto& c) { return c->is_closed(); });
  case close_step::senders:
    return std::ranges::all_of(links_, [](const auto& l) { return l->is_closed(); });
  case close_step::session:
    return publish_session_ == nullptr;
  case close_step::connection:
    return false; // ends with the peer's close
  }
  return true;
}

bool connection::only_an_end_is_missing() const noexcept {
  if (step_ == close_step::session) return true;
  return step_ == close_step::receivers &&
         std::ranges::all_of(consumers_, [](const auto& c) { return c->link() == nullptr; });
}

/// What went wrong in the step that ends; the first error, and thus the innermost, counts.
void connection::collect_step_errors() {
  const auto keep = [&](error why) {
    if (!close_failure_) close_failure_ = std::move(why);
  };
  const bool excused = !peer_.answers_every_end() && only_an_end_is_missing();
  if (step_ == close_step::receivers) {
    for (const auto& c : consumers_) {
      if (c->close_error()) keep(*c->close_error());
      if (!c->is_closed() && !excused)
        keep(error(errc::detach, c->describe() + ": the peer did not answer the detach in time"));
    }
  }
  if (step_ == close_step::senders) {
    for (const auto& l : links_) {
      if (l->close_error()) keep(*l->close_error());
      if (!l->is_closed()) keep(error(errc::detach, "a sending link: the peer did not answer the detach in time"));
    }
  }
  if (step_ == close_step::session && publish_session_ != nullptr && !excused)
    keep(error(errc::session, "the peer did not answer the end of the publishers' session in time"));
  if (step_ == close_step::connection)
    keep(error(errc::connect, "the peer did not answer the close of the connection in time"));
}

void connection::advance_close() {
  while (state_ == state::closing && engine_) {
    const time_point now = hub_->clock.now();
    if (!step_complete() && *step_due_ > now) {
      if (!peer_.answers_every_end() && only_an_end_is_missing()) step_due_ = std::min(*step_due_, now + end_patience);
      return;
    }
    collect_step_errors();
    if (step_ == close_step::connection) return finish_close(false);
    step_ = static_cast<close_step>(static_cast<int>(step_) + 1);
    start_step();
  }
}

void connection::finish_close(bool orderly) {
  const error why(errc::closed, "the connection was shut down");
  for (const auto& c : consumers_)
    c->end(why); // they are not told of a loss
  state_ = state::over;
  const auto closing = std::exchange(closing_, {});
  forget_connection(why);
  end_everything(why);
  for (const auto& waiter : closing) {
    waiter->failure = close_failure_;
    waiter->orderly = orderly;
    waiter->done.set();
  }
}

} // namespace millrace::amqp::detail
