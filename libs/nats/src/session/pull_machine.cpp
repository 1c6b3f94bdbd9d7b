#include "session/pull_machine.hpp"

#include <algorithm>

namespace millrace::nats::detail {

namespace {
constexpr unsigned patience = 2; // heartbeats that may be missed
constexpr int fast = 8;          // a window within this share of ack_wait: grow
constexpr int slow = 4;          // a window above this share: shrink
} // namespace

pull_machine::pull_machine(const config& c) noexcept
    : config_(c), window_(c.window != 0 ? c.window : std::min(c.floor, c.ceiling)) {}

std::uint64_t pull_machine::outstanding(totals t) const noexcept {
  const std::uint64_t done = (t.received - base_) + void_;
  return requested_ > done ? requested_ - done : 0;
}

pull_machine::action pull_machine::refill(totals t, std::uint64_t room_wanted) noexcept {
  const std::uint64_t taken = (t.received - t.released) + outstanding(t);
  const std::uint64_t room = window_ > taken ? window_ - taken : 0;
  if (room == 0 || room < room_wanted) return {};
  // More may have come than was asked for (an answer to a request of the last epoch): then this one starts level.
  if (requested_ < (t.received - base_) + void_) requested_ = (t.received - base_) + void_;
  requested_ += room;
  return {static_cast<std::uint32_t>(room), advice::none};
}

pull_machine::action pull_machine::restart(totals t, time_point now) noexcept {
  ++epoch_;
  requested_ = void_ = 0;
  base_ = t.received;
  silent_ticks_ = 0;
  last_sign_ = t.received + statuses_;
  mark_ = t.released;
  mark_time_ = now;
  return refill(t, 1);
}

void pull_machine::adapt(totals t, time_point now) noexcept {
  if (config_.window != 0 || t.released - mark_ < window_) return;
  const duration took = now - mark_time_;
  if (took * fast < config_.ack_wait)
    window_ = std::min(window_ * 2, std::max(config_.ceiling, 1U));
  else if (took * slow > config_.ack_wait)
    window_ = std::max(window_ / 2, std::min(config_.floor, config_.ceiling));
  mark_ = t.released;
  mark_time_ = now;
}

pull_machine::action pull_machine::on_released(totals t, time_point now) noexcept {
  adapt(t, now);
  return refill(t, std::max<std::uint64_t>(1, window_ / 2));
}

pull_machine::action pull_machine::on_status(unsigned code, std::string_view text, std::int64_t undelivered,
                                             std::uint32_t epoch, totals t, time_point now) noexcept {
  if (epoch != epoch_) return {};
  ++statuses_;
  if (code == 100) return {};
  if (code == 409 && text.find("Deleted") != std::string_view::npos) return {0, advice::gone};
  if (code == 409 && text.find("push") != std::string_view::npos) return {0, advice::verify};
  if (code != 404 && code != 408 && code != 409) return {0, advice::verify};
  // The rest of one request is void. A server that does not say how much leaves all of it in doubt: start level.
  void_ += undelivered >= 0 ? std::min<std::uint64_t>(static_cast<std::uint64_t>(undelivered), outstanding(t))
                            : outstanding(t);
  if (code == 408) return refill(t, 1);
  if (code == 409) window_ = std::max(1U, window_ / 2); // above a limit of the consumer
  (void)now;
  return {}; // pulled again by the next tick, not at once: it would be refused in a loop
}

pull_machine::action pull_machine::on_tick(totals t, time_point now) noexcept {
  (void)now;
  const std::uint64_t sign = t.received + statuses_;
  const bool waits = outstanding(t) > 0;
  silent_ticks_ = waits && sign == last_sign_ ? silent_ticks_ + 1 : 0;
  last_sign_ = sign;
  if (silent_ticks_ > patience) {
    silent_ticks_ = 0;
    return {0, advice::verify};
  }
  return refill(t, std::max<std::uint64_t>(1, window_ / 2));
}

} // namespace millrace::nats::detail
