#include "session/session.hpp"

#include <algorithm>
#include <thread>

namespace millrace::rabbitmq::detail {
namespace {

void earliest(std::optional<time_point>& of, const std::optional<time_point>& other) noexcept {
  if (other && (!of || *other < *of)) of = other;
}

} // namespace

session::alarm_timer::alarm_timer(session& s) noexcept
    : timer([](timer& t) noexcept {
        session& s = *static_cast<alarm_timer&>(t).owner;
        const auto to = s.link_;
        s.alarm_fired_.store(true); // from here on the session may be gone
        to->wake();
      }),
      owner(&s) {}

void session::call_at(time_point due) noexcept { earliest(call_due_, due); }

void session::arm_alarm() noexcept {
  std::optional<time_point> next;
  for (const auto& due : {attempt_due_, retry_due_, heartbeat_due_, close_due_, call_due_})
    earliest(next, due);
  if (!next || (armed_ && *armed_ <= *next)) return; // one that is early finds nothing due and arms again
  if (armed_ && !link_->clock.disarm(alarm_)) return;
  armed_ = next;
  link_->clock.arm(alarm_, *next);
}

/// The last of it, once the I/O thread has ended: no callback runs and none begins.
void session::disarm_alarm() noexcept {
  if (!armed_ || link_->clock.disarm(alarm_)) return;
  while (!alarm_fired_.load()) // it is firing at this moment
    std::this_thread::yield();
}

void session::tick() {
  const time_point now = link_->clock.now();
  if (close_due_ && *close_due_ <= now) finish_close(false);
  if (attempt_due_ && *attempt_due_ <= now) {
    attempt_failed(error(errc::connect, "the server did not answer within the connect timeout"));
  }
  if (retry_due_ && *retry_due_ <= now) {
    retry_due_.reset();
    dial_next();
  }
  if (heartbeat_due_ && *heartbeat_due_ <= now) tick_heartbeat(now);
  if (!call_due_ || *call_due_ > now) return;
  call_due_.reset();
  for (std::size_t i = 0; i < lanes_.size(); ++i) { // NOLINT(modernize-loop-convert): what it completes may add lanes
    if (const auto due = lanes_[i]->sweep(now)) call_at(*due);
  }
  const auto consumers = consumers_; // a tick may take one out
  for (const auto& c : consumers) {
    if (const auto due = c->tick(*this, now)) call_at(*due);
  }
}

/// Twice an interval: says that we live if nothing else did, and gives a peer up that was silent for two intervals.
void session::tick_heartbeat(time_point now) {
  heartbeat_due_ = now + std::chrono::milliseconds(500) * handshake_.agreed().heartbeat;
  silent_ticks_ = std::exchange(heard_, false) ? 0 : silent_ticks_ + 1;
  if (silent_ticks_ >= 4) {
    heartbeat_due_.reset();
    return connection_lost(error(errc::connect, "the server was silent for two heartbeat intervals"));
  }
  if (!std::exchange(sent_, false)) send([](std::string& out) { append_heartbeat(out); });
}

} // namespace millrace::rabbitmq::detail
