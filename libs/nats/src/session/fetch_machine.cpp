#include "session/fetch_machine.hpp"

#include <algorithm>
#include <utility>

namespace millrace::nats::detail {

pull_action fetch_machine::ask(step next, std::uint32_t messages) noexcept {
  begin_epoch();
  step_ = next;
  open_ = messages;
  const bool lasts = next == step::waiting || (next == step::completing && config_.waits);
  const pull_kind kind = next == step::waiting ? pull_kind::open : lasts ? pull_kind::rest : pull_kind::sweep;
  return {.pull = messages, .how = kind};
}

pull_action fetch_machine::begin(pull_totals t, time_point /*now*/) noexcept {
  step_ = step::idle;
  open_ = 0;
  pull_action next = refill(t);
  next.batch_ends = std::exchange(gathered_, 0) > 0;
  return next;
}

pull_action fetch_machine::refill(pull_totals t) noexcept {
  const std::uint64_t held = t.received - t.released;
  if (step_ != step::idle || held + size_ > config_.window) return {};
  return ask(step::sweeping, size_);
}

std::uint64_t fetch_machine::release_step(pull_totals t) const noexcept {
  const std::uint64_t wanted = (t.received - t.released) + size_;
  return wanted > config_.window ? wanted - config_.window : 1;
}

pull_action fetch_machine::on_message(bool gathered, pull_totals t) noexcept {
  if (open_ > 0) --open_;
  if (gathered) ++gathered_;
  if (gathered_ >= size_) return end_batch(t);
  if (open_ == 0 && step_ != step::idle) return request_ended(t);
  return {};
}

pull_action fetch_machine::on_overdue(std::uint32_t epoch, pull_totals t) noexcept {
  if (epoch != this->epoch() || (step_ != step::sweeping && step_ != step::completing)) return {};
  return request_ended(t);
}

/// Nothing more comes of the request that is out.
pull_action fetch_machine::request_ended(pull_totals t) noexcept {
  open_ = 0;
  if (gathered_ == 0) return ask(step::waiting, 1);
  if (step_ == step::completing || (step_ == step::sweeping && !config_.waits)) return end_batch(t);
  return ask(step::completing, size_ - gathered_);
}

pull_action fetch_machine::end_batch(pull_totals t) noexcept {
  step_ = step::idle;
  open_ = gathered_ = 0;
  pull_action next = refill(t);
  next.batch_ends = true;
  return next;
}

pull_action fetch_machine::pull_ended(unsigned code, std::int64_t /*undelivered*/, pull_totals t) noexcept {
  if (code != 409) return request_ended(t);
  // Refused, perhaps for its size. Asked again by the next tick, not at once: it would be refused in a loop.
  size_ = std::max(1U, size_ / 2);
  step_ = step::idle;
  open_ = 0;
  return {.batch_ends = std::exchange(gathered_, 0) > 0};
}

} // namespace millrace::nats::detail
