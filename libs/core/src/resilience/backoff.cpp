#include <millrace/log.hpp>
#include <millrace/resilience/backoff.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <random>
#include <string>
#include <utility>

namespace millrace::resilience {
namespace {

/// splitmix64: every step of the counter gives an independent number, so that threads share it without a lock.
std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;

std::uint64_t system_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

} // namespace

backoff backoff::exponential(duration first, duration cap, double factor) {
  backoff b;
  b.first_ = std::max(first, duration::zero());
  b.cap_ = std::max(cap, duration::zero());
  b.factor_ = std::max(factor, 1.0);
  return b;
}

backoff backoff::fixed(std::vector<duration> delays) {
  backoff b;
  for (duration& d : delays)
    d = std::max(d, duration::zero());
  b.fixed_ = std::move(delays);
  return b;
}

backoff backoff::with(jitter kind, std::uint64_t seed) const {
  backoff b = *this;
  b.jitter_ = kind;
  b.generator_ = std::make_shared<std::atomic<std::uint64_t>>(seed);
  return b;
}

backoff backoff::full_jitter(std::uint64_t seed) const { return with(jitter::full, seed); }
backoff backoff::equal_jitter(std::uint64_t seed) const { return with(jitter::equal, seed); }
backoff backoff::full_jitter() const { return with(jitter::full, system_seed()); }
backoff backoff::equal_jitter() const { return with(jitter::equal, system_seed()); }

duration backoff::plain(std::uint32_t attempt) const noexcept {
  const std::uint32_t n = std::max(attempt, 1U);
  if (!fixed_.empty()) return fixed_[std::min<std::size_t>(n, fixed_.size()) - 1];
  const double grown = static_cast<double>(first_.count()) * std::pow(factor_, n - 1);
  if (!(grown < static_cast<double>(cap_.count()))) return cap_; // infinity too
  return duration(static_cast<duration::rep>(grown));
}

duration backoff::up_to(duration bound) const noexcept {
  const std::uint64_t drawn = mixed(generator_->fetch_add(step, std::memory_order_relaxed) + step);
  const double unit = static_cast<double>(drawn >> 11U) * 0x1.0p-53;
  return std::min(bound, duration(static_cast<duration::rep>(std::round(unit * static_cast<double>(bound.count())))));
}

duration backoff::delay(std::uint32_t attempt) const noexcept {
  const duration d = plain(attempt);
  switch (jitter_) {
  case jitter::full:
    return up_to(d);
  case jitter::equal:
    return d / 2 + up_to(d - d / 2);
  case jitter::none:
    break;
  }
  return d;
}

void retry_with::after(context& ctx, outcome& answer) {
  if (answer.kind() != settlement_kind::retry) return;
  outcome later = millrace::retry_after(schedule_.delay(ctx.attempt()));
  if (auto hooks = answer.take_continuations()) later.append(std::move(hooks));
  answer = std::move(later);
}

task<outcome> retry_exceptions::around(context& ctx, next_handler next) {
  outcome answer = millrace::retry();
  std::string what;
  bool threw = false;
  try {
    answer = co_await next();
  } catch (const std::exception& e) {
    threw = true;
    what = e.what();
  }
  if (!threw) co_return answer;
  log(log_level::warning, "subscription '" + std::string(ctx.subscription()) +
                              "': the handler threw, the message is delivered again: " + what);
  co_return millrace::retry_after(schedule_.delay(ctx.attempt()));
}

} // namespace millrace::resilience
