#include "recorder.hpp"

namespace millrace::testing::conformance {

handled recorder::record(bytes_view payload, const context& ctx) {
  handled seen{std::string(as_text(payload)), ctx.headers(), ctx.attempt(), 0, ctx.runtime().now()};
  {
    const std::scoped_lock lock(mutex_);
    seen.call = ++count_;
    calls_.push_back(seen);
  }
  arrived_.set();
  return seen;
}

task<handled> recorder::next(duration bound) {
  const time_point due = runtime_->now() + bound;
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      if (!calls_.empty()) {
        handled first = std::move(calls_.front());
        calls_.pop_front();
        co_return first;
      }
      arrived_.clear();
    }
    const bool in_time = co_await arrived_.wait_until(due);
    if (!in_time) throw failure("waiting for the next call of the handler: none after call " + std::to_string(count_));
  }
}

task<void> recorder::nothing(duration bound, std::string what) {
  const time_point due = runtime_->now() + bound;
  bool quiet = true;
  {
    const std::scoped_lock lock(mutex_);
    quiet = calls_.empty();
    arrived_.clear();
  }
  if (quiet) {
    const bool came = co_await arrived_.wait_until(due);
    quiet = !came;
  }
  expect(quiet, what + ": the handler was called once more");
}

} // namespace millrace::testing::conformance
