#pragma once

#include <millrace/middleware.hpp>

#include <functional>
#include <string_view>

namespace millrace::resilience {

/// A handler that is past its deadline and still runs.
struct overdue_handler {
  std::string_view subscription;
  std::string_view subject;
  duration limit;
};

/// Gives what is further in, the handler last, `limit` on the service's clock.
///
/// A running handler is never abandoned: whatever it waits for would wake a coroutine that is gone. So, exactly:
///  - At the deadline, while the handler runs, blocked or suspended, a warning is logged and `on_deadline` is called.
///  - When the handler ends, at its deadline or later, an `ack` or `drop` of it is discarded and the message is
///    delivered again. A reply, and continuations of the answer, are discarded with it; what the handler published
///    itself is not. A `retry` or `retry_after` stands.
///  - What the handler throws is judged by the registration's policy, late or not: the deadline itself is no failure.
///  - A handler that never ends keeps its worker. Bound the waits inside it too.
///
/// Costs a timer and a coroutine a message; allocates nothing before the deadline.
class timeout final : public middleware {
 public:
  using observer = std::function<void(const overdue_handler&)>;

  explicit timeout(duration limit) : limit_(limit) {}
  /// Called at the deadline, on the runtime's timer thread: it must be short and must not block, and may be called by
  /// several messages in turn. The views are valid during the call. What it throws is logged.
  timeout& on_deadline(observer tell);
  /// Delivers again after this delay instead of at once.
  timeout& retry_in(duration delay);
  /// Lets late answers stand: the deadline is only reported.
  timeout& keep_late_answers();

  task<outcome> around(context& ctx, next_handler next) override;

 private:
  duration limit_;
  observer tell_;
  outcome late_answer() const;
  duration retry_in_{};
  bool keep_ = false;
};

} // namespace millrace::resilience
