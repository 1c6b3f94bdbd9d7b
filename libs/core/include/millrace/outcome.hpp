#pragma once

#include <millrace/incoming.hpp>
#include <millrace/task.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace millrace {

namespace detail {

/// Work for after the settlement; a singly linked list.
class settled_hook {
 public:
  settled_hook() = default;
  settled_hook(const settled_hook&) = delete;
  settled_hook& operator=(const settled_hook&) = delete;
  virtual ~settled_hook() = default;
  virtual task<void> run() = 0;

  std::unique_ptr<settled_hook> next;
  std::optional<settlement_kind> only; ///< fires on this kind alone
};

template <class F> class settled_hook_of final : public settled_hook {
 public:
  explicit settled_hook_of(F f) : f_(std::move(f)) {}
  task<void> run() override {
    if constexpr (is_task<std::invoke_result_t<F&>>) {
      co_await f_();
    } else {
      f_();
      co_return;
    }
  }

 private:
  F f_;
};

} // namespace detail

/// What can run after a settlement: `void()` or `task<void>()`.
template <class F>
concept continuation =
    std::invocable<F&> && (std::is_void_v<std::invoke_result_t<F&>> || is_task<std::invoke_result_t<F&>>);

/// What a handler's return value makes of its message. Built by `ack()`, `retry()`, `retry_after(d)`, `drop()`.
class [[nodiscard]] outcome {
 public:
  constexpr outcome(settlement_kind kind, duration delay) noexcept : delay_(delay), kind_(kind) {}

  /// Runs `f` once, after the broker took this settlement; off the delivery path. Lost with the process; never causes a
  /// redelivery.
  template <continuation F> [[nodiscard]] outcome&& then(F f) && {
    auto hook = std::make_unique<detail::settled_hook_of<F>>(std::move(f));
    hook->next = std::move(then_);
    then_ = std::move(hook);
    return std::move(*this);
  }

  /// Adds a continuation that exists already.
  void append(std::unique_ptr<detail::settled_hook> hook) noexcept {
    std::unique_ptr<detail::settled_hook>* end = &then_;
    while (*end)
      end = &(*end)->next;
    *end = std::move(hook);
  }

  [[nodiscard]] settlement_kind kind() const noexcept { return kind_; }
  [[nodiscard]] duration delay() const noexcept { return delay_; }
  [[nodiscard]] bool has_continuation() const noexcept { return then_ != nullptr; }
  [[nodiscard]] std::unique_ptr<detail::settled_hook> take_continuations() noexcept { return std::move(then_); }

 private:
  std::unique_ptr<detail::settled_hook> then_;
  duration delay_;
  settlement_kind kind_;
};

/// The message is done.
[[nodiscard]] inline outcome ack() noexcept { return {settlement_kind::ack, {}}; }
/// Deliver it again, at once.
[[nodiscard]] inline outcome retry() noexcept { return {settlement_kind::retry, {}}; }
/// Deliver it again, no sooner than `d`. Where the transport has no delay of its own the service publishes a copy then
/// (at most once).
[[nodiscard]] inline outcome retry_after(duration d) noexcept { return {settlement_kind::retry_after, d}; }
/// Reject it for good; the broker's dead-letter rule, if it has one, applies.
[[nodiscard]] inline outcome drop() noexcept { return {settlement_kind::drop, {}}; }

/// What happens to a message whose handler threw, or whose payload does not decode.
class failure_policy {
 public:
  enum class kind : std::uint8_t { fail_fast, drop, retry, retry_after, skip };
  /// Stops the service in order, with an error; the message stays unsettled, so that the broker redelivers it.
  [[nodiscard]] static constexpr failure_policy fail_fast() noexcept { return {kind::fail_fast, {}}; }
  [[nodiscard]] static constexpr failure_policy drop() noexcept { return {kind::drop, {}}; }
  [[nodiscard]] static constexpr failure_policy retry() noexcept { return {kind::retry, {}}; }
  [[nodiscard]] static constexpr failure_policy retry_after(duration d) noexcept { return {kind::retry_after, d}; }
  /// Acknowledges it, to move past it.
  [[nodiscard]] static constexpr failure_policy skip() noexcept { return {kind::skip, {}}; }

  [[nodiscard]] constexpr kind what() const noexcept { return kind_; }
  [[nodiscard]] constexpr duration delay() const noexcept { return delay_; }

 private:
  constexpr failure_policy(kind k, duration d) noexcept : delay_(d), kind_(k) {}
  duration delay_;
  kind kind_;
};

} // namespace millrace
