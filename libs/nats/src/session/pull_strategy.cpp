#include "session/pull_strategy.hpp"

namespace millrace::nats::detail {

namespace {
constexpr unsigned patience = 2; // heartbeats that may be missed
}

pull_action pull_strategy::restart(pull_totals t, time_point now) noexcept {
  begin_epoch();
  silent_ticks_ = 0;
  last_sign_ = t.received + statuses_;
  return begin(t, now);
}

pull_action pull_strategy::on_status(unsigned code, std::string_view text, std::int64_t undelivered,
                                     std::uint32_t epoch, pull_totals t) noexcept {
  if (epoch != epoch_) return {};
  ++statuses_;
  if (code == 100) return {};
  if (code == 409 && text.find("Deleted") != std::string_view::npos) return {.then = pull_advice::gone};
  if (code == 409 && text.find("push") != std::string_view::npos) return {.then = pull_advice::verify};
  if (code != 404 && code != 408 && code != 409) return {.then = pull_advice::verify};
  return pull_ended(code, undelivered, t);
}

pull_action pull_strategy::on_tick(pull_totals t) noexcept {
  const std::uint64_t sign = t.received + statuses_;
  const bool waits = outstanding(t) > 0;
  silent_ticks_ = waits && sign == last_sign_ ? silent_ticks_ + 1 : 0;
  last_sign_ = sign;
  if (silent_ticks_ > patience) {
    silent_ticks_ = 0;
    return {.then = pull_advice::verify};
  }
  return refill(t);
}

} // namespace millrace::nats::detail
