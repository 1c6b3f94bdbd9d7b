#include "session/pull_machine.hpp"

#include <algorithm>

namespace millrace::nats::detail {

namespace {
constexpr int fast = 8; // a window within this share of ack_wait: grow
constexpr int slow = 4; // a window above this share: shrink
} // namespace

pull_machine::pull_machine(const config& c) noexcept
    : config_(c), window_(c.window != 0 ? c.window : std::min(c.floor, c.ceiling)) {}

std::uint64_t pull_machine::outstanding(pull_totals t) const noexcept {
  const std::uint64_t done = (t.received - base_) + void_;
  return requested_ > done ? requested_ - done : 0;
}

pull_action pull_machine::refill(pull_totals t, std::uint64_t room_wanted) noexcept {
  const std::uint64_t taken = (t.received - t.released) + outstanding(t);
  const std::uint64_t room = window_ > taken ? window_ - taken : 0;
  if (room == 0 || room < room_wanted) return {};
  // More may have come than was asked for (an answer to a request of the last epoch): then this one starts level.
  if (requested_ < (t.received - base_) + void_) requested_ = (t.received - base_) + void_;
  requested_ += room;
  return {.pull = static_cast<std::uint32_t>(room)};
}

pull_action pull_machine::refill(pull_totals t) noexcept { return refill(t, std::max<std::uint64_t>(1, window_ / 2)); }

pull_action pull_machine::begin(pull_totals t, time_point now) noexcept {
  requested_ = void_ = 0;
  base_ = t.received;
  mark_ = t.released;
  mark_time_ = now;
  return refill(t, 1);
}

void pull_machine::adapt(pull_totals t, time_point now) noexcept {
  if (config_.window != 0 || t.released - mark_ < window_) return;
  const duration took = now - mark_time_;
  if (took * fast < config_.ack_wait)
    window_ = std::min(window_ * 2, std::max(config_.ceiling, 1U));
  else if (took * slow > config_.ack_wait)
    window_ = std::max(window_ / 2, std::min(config_.floor, config_.ceiling));
  mark_ = t.released;
  mark_time_ = now;
}

pull_action pull_machine::on_released(pull_totals t, time_point now) noexcept {
  adapt(t, now);
  return refill(t);
}

pull_action pull_machine::pull_ended(unsigned code, std::int64_t undelivered, pull_totals t) noexcept {
  // The rest of one request is void. A server that does not say how much leaves all of it in doubt: start level.
  void_ += undelivered >= 0 ? std::min<std::uint64_t>(static_cast<std::uint64_t>(undelivered), outstanding(t))
                            : outstanding(t);
  if (code == 408) return refill(t, 1);
  if (code == 409) window_ = std::max(1U, window_ / 2); // above a limit of the consumer
  return {}; // pulled again by the next tick, not at once: it would be refused in a loop
}

} // namespace millrace::nats::detail
