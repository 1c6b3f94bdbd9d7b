#pragma once

#include <millrace/event.hpp>
#include <millrace/outgoing.hpp>

#include <coroutine>
#include <string>
#include <string_view>

namespace millrace::test_support {

/// A publish that was started, which a test awaits, waits for or leaves under way. It stays where it is.
class sent_message {
 public:
  /// To a `publish_port` or a `transaction_port`.
  template <class Port> sent_message(Port& to, runtime& clock, const outgoing& message) : op_(&clock) {
    to.publish(message, op_);
  }
  template <class Port> sent_message(Port& to, runtime& clock, std::string_view destination, std::string_view text)
      : sent_message(to, clock, outgoing{destination, as_bytes(text)}) {}

  [[nodiscard]] bool ended() const noexcept { return op_.done(); }
  [[nodiscard]] bool await_ready() const noexcept { return op_.done(); }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return op_.wait(waiter); }
  [[nodiscard]] result<receipt> await_resume() noexcept { return op_.take(); }

  /// Blocks this thread until it is answered. Once.
  [[nodiscard]] result<receipt> answer() { return sync_wait(answer_of(*this)); }
  /// The error's text; empty: accepted. Once, and without waiting.
  [[nodiscard]] std::string failure() {
    if (!op_.done()) return "(under way)";
    const auto answer = op_.take();
    return answer ? std::string() : answer.error().message();
  }

 private:
  static task<result<receipt>> answer_of(sent_message& sent) {
    auto answer = co_await sent;
    co_return answer;
  }
  publish_operation op_;
};

} // namespace millrace::test_support
