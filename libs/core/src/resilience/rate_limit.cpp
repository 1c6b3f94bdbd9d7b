#include <millrace/resilience/rate_limit.hpp>

#include <algorithm>
#include <stdexcept>

namespace millrace::resilience {
namespace {

constexpr double longest = 1e17; // ns, about three years: no sum of these overflows
constexpr std::int64_t long_ago = -(std::int64_t{1} << 62U);

std::int64_t nanoseconds(double n) noexcept { return static_cast<std::int64_t>(std::min(n, longest)); }

} // namespace

rate_limit::rate_limit(double per_second, std::uint32_t burst) {
  if (!(per_second > 0) || burst == 0)
    throw std::invalid_argument("rate_limit: per_second must be above zero and burst at least 1");
  const double interval = 1e9 / per_second;
  interval_ = nanoseconds(interval);
  allowance_ = nanoseconds(interval * (burst - 1));
  next_ = std::make_shared<std::atomic<std::int64_t>>(long_ago);
}

/// Takes the next turn, and answers how far away it is.
duration rate_limit::take(time_point now) noexcept {
  const std::int64_t at = duration(now.time_since_epoch()).count();
  std::int64_t seen = next_->load(std::memory_order_relaxed);
  std::int64_t turn = 0;
  do {
    turn = std::max(seen, at - allowance_);
  } while (!next_->compare_exchange_weak(seen, turn + interval_, std::memory_order_relaxed));
  return duration(std::max<std::int64_t>(turn - at, 0));
}

task<outcome> rate_limit::around(context& ctx, next_handler next) {
  const duration wait = take(ctx.runtime().now());
  if (wait > duration::zero()) co_await ctx.sleep_for(wait);
  outcome answer = co_await next();
  co_return answer;
}

} // namespace millrace::resilience
