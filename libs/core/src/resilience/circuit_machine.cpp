#include "resilience/circuit_machine.hpp"

#include <algorithm>

namespace millrace::resilience {
namespace {

circuit_breaker_options sane(circuit_breaker_options o) noexcept {
  o.failures = std::max(o.failures, 1U);
  o.half_open_probes = std::max(o.half_open_probes, 1U);
  o.open_for = std::max(o.open_for, duration::zero());
  return o;
}

} // namespace

circuit_machine::circuit_machine(circuit_breaker_options options)
    : options_(sane(options)), failures_(options_.failures) {}

circuit circuit_machine::change_to(circuit to) {
  ++epoch_;
  probing_ = proved_ = 0;
  recorded_ = 0;
  return state_ = to;
}

circuit circuit_machine::open(time_point now) {
  open_until_ = now + options_.open_for;
  ++times_opened_;
  return change_to(circuit::open);
}

circuit_machine::admission circuit_machine::admit(time_point now) {
  const std::scoped_lock lock(mutex_);
  admission a;
  if (state_ == circuit::open) {
    if (now < open_until_) {
      a.wait = open_until_ - now;
      return a;
    }
    a.changed = change_to(circuit::half_open);
  }
  if (state_ == circuit::half_open) {
    if (probing_ + proved_ >= options_.half_open_probes) {
      a.wait = std::min<duration>(options_.open_for, std::chrono::seconds(1));
      return a;
    }
    ++probing_;
  }
  a.granted = true;
  a.epoch = epoch_;
  return a;
}

bool circuit_machine::too_many(time_point now) {
  failures_[recorded_++ % failures_.size()] = now;
  if (recorded_ < failures_.size()) return false;
  return now - failures_[recorded_ % failures_.size()] <= options_.window;
}

std::optional<circuit> circuit_machine::probe_ended(ending how, time_point now) {
  --probing_;
  if (how == ending::failure) return open(now);
  if (how == ending::success && ++proved_ == options_.half_open_probes) return change_to(circuit::closed);
  return std::nullopt;
}

std::optional<circuit> circuit_machine::ended(std::uint64_t epoch, ending how, time_point now) {
  const std::scoped_lock lock(mutex_);
  if (epoch != epoch_) return std::nullopt;
  if (state_ == circuit::half_open) return probe_ended(how, now);
  if (how == ending::failure && too_many(now)) return open(now);
  return std::nullopt;
}

circuit circuit_machine::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

std::uint64_t circuit_machine::times_opened() const {
  const std::scoped_lock lock(mutex_);
  return times_opened_;
}

} // namespace millrace::resilience
