#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::nats::detail {

/// Keeps rare calls (lost, restored, ended) out of a sink after its subscription has stopped. `close` waits for the
/// calls that are inside; they are short.
class call_gate {
 public:
  class pass {
   public:
    explicit pass(call_gate& gate) noexcept : gate_(gate.enter() ? &gate : nullptr) {}
    pass(const pass&) = delete;
    pass& operator=(const pass&) = delete;
    ~pass() {
      if (gate_ != nullptr) gate_->leave();
    }
    explicit operator bool() const noexcept { return gate_ != nullptr; }

   private:
    call_gate* gate_;
  };

  void close() noexcept {
    std::uint32_t state = state_.fetch_or(closed) | closed;
    while (state != closed) {
      state_.wait(state);
      state = state_.load();
    }
  }
  [[nodiscard]] bool is_closed() const noexcept { return (state_.load() & closed) != 0; }

 private:
  static constexpr std::uint32_t closed = 1;
  static constexpr std::uint32_t one = 2;
  bool enter() noexcept {
    if ((state_.fetch_add(one) & closed) == 0) return true;
    leave();
    return false;
  }
  void leave() noexcept {
    if ((state_.fetch_sub(one) & closed) != 0) state_.notify_all();
  }
  std::atomic<std::uint32_t> state_ = 0;
};

} // namespace millrace::nats::detail
