#include <millrace/log.hpp>
#include <millrace/resilience/timeout.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <utility>

namespace millrace::resilience {
namespace {

std::string in_ms(duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) + " ms";
}

/// Lives in the frame of `around`; `disarm` waits for a callback that is running.
class watchdog final : public timer {
 public:
  watchdog(const context& ctx, duration limit, const timeout::observer& tell)
      : timer([](timer& t) noexcept { static_cast<watchdog&>(t).bark(); }),
        about_{ctx.subscription(), ctx.subject(), limit}, tell_(&tell), runtime_(&ctx.runtime()) {
    const time_point now = runtime_->now();
    due_ = limit < time_point::max() - now ? now + limit : time_point::max();
    runtime_->arm(*this, due_);
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() { static_cast<void>(end()); }

  [[nodiscard]] time_point due() const noexcept { return due_; }
  /// True: the deadline came first.
  [[nodiscard]] bool end() noexcept {
    if (runtime_ != nullptr) fired_ = !std::exchange(runtime_, nullptr)->disarm(*this);
    return fired_;
  }

 private:
  void bark() const noexcept {
    try {
      log(log_level::warning, "subscription '" + std::string(about_.subscription) + "': the handler of '" +
                                  std::string(about_.subject) + "' runs for longer than " + in_ms(about_.limit));
      if (*tell_) (*tell_)(about_);
    } catch (const std::exception& e) {
      log(log_level::error, std::string("a timeout's on_deadline threw: ") + e.what());
    } catch (...) {
      log(log_level::error, "a timeout's on_deadline threw");
    }
  }

  overdue_handler about_;
  const timeout::observer* tell_;
  millrace::runtime* runtime_;
  time_point due_;
  bool fired_ = false;
};

bool redelivers(const outcome& answer) noexcept {
  return answer.kind() == settlement_kind::retry || answer.kind() == settlement_kind::retry_after;
}

} // namespace

timeout& timeout::on_deadline(observer tell) {
  tell_ = std::move(tell);
  return *this;
}

timeout& timeout::retry_in(duration delay) {
  retry_in_ = delay;
  return *this;
}

timeout& timeout::keep_late_answers() {
  keep_ = true;
  return *this;
}

outcome timeout::late_answer() const {
  if (retry_in_ > duration::zero()) return millrace::retry_after(retry_in_);
  return millrace::retry();
}

task<outcome> timeout::around(context& ctx, next_handler next) {
  watchdog dog(ctx, limit_, tell_);
  ctx.limit(dog.due());
  outcome answer = co_await next();
  const bool late = dog.end();
  if (!late || keep_ || redelivers(answer)) co_return answer;
  log(log_level::info, "subscription '" + std::string(ctx.subscription()) + "': an answer came after the deadline of " +
                           in_ms(limit_) + "; the message is delivered again");
  co_return late_answer();
}

} // namespace millrace::resilience
