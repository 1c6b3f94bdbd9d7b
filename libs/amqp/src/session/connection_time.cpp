#include "session/connection.hpp"

#include <algorithm>

namespace millrace::amqp::detail {
namespace {

void earliest(std::optional<time_point>& of, const std::optional<time_point>& other) noexcept {
  if (other && (!of || *other < *of)) of = other;
}

} // namespace

connection::alarm_timer::alarm_timer(connection& c) noexcept
    : timer([](timer& t) noexcept {
        connection& c = *static_cast<alarm_timer&>(t).owner;
        const auto shared = c.hub_;
        c.alarm_fired_.store(true);
        shared->wake();
      }),
      owner(&c) {}

void connection::call_at(time_point due) noexcept { earliest(call_due_, due); }

void connection::arm_alarm() noexcept {
  std::optional<time_point> next;
  for (const auto& due : {attempt_due_, retry_due_, engine_due_, step_due_, call_due_})
    earliest(next, due);
  if (!next || (armed_ && *armed_ <= *next)) return; // one that is early finds nothing due and arms again
  if (armed_ && !hub_->clock.disarm(alarm_)) return;
  armed_ = next;
  hub_->clock.arm(alarm_, *next);
}

void connection::tick() {
  const time_point now = hub_->clock.now();
  if (step_due_ && *step_due_ <= now) step_done();
  if (attempt_due_ && *attempt_due_ <= now) {
    attempt_failed(error(errc::connect, "the peer did not answer within the connect timeout"), false);
  }
  if (retry_due_ && *retry_due_ <= now) {
    retry_due_.reset();
    dial_next();
  }
  if (engine_ && engine_due_ && *engine_due_ <= now) engine_due_ = engine_->tick(now);
  if (call_due_ && *call_due_ <= now) tick_links(now);
}

void connection::tick_links(time_point now) {
  call_due_.reset();
  take_work();
  const auto links = links_; // a sweep may take one out
  for (const auto& l : links) {
    if (const auto due = l->sweep(*this, now)) call_at(*due);
  }
  const auto consumers = consumers_;
  for (const auto& c : consumers) {
    if (const auto due = c->tick(*this, now)) call_at(*due);
  }
}

} // namespace millrace::amqp::detail
