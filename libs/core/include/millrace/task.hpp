#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

namespace millrace {

template <class T = void> class task;

namespace detail {

/// Coroutine frames come from per-thread free lists: in steady state a coroutine allocates nothing.
[[nodiscard]] void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size) noexcept;

} // namespace detail

/// Told once when a started task has ended. Runs inside the task's last suspension: it must not destroy the task.
class completion {
 public:
  using function = void (*)(completion&) noexcept;
  explicit completion(function done) noexcept : done_(done) {}
  void notify() noexcept { done_(*this); }

 private:
  function done_;
};

namespace detail {

class task_promise_base {
 public:
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }

  struct final_awaiter {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      task_promise_base& promise = self.promise();
      if (promise.done_ == nullptr) return promise.continuation_;
      promise.done_->notify();
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }

  void continue_with(std::coroutine_handle<> next) noexcept { continuation_ = next; }
  void notify_at_end(completion& done) noexcept { done_ = &done; }

 private:
  std::coroutine_handle<> continuation_ = std::noop_coroutine();
  completion* done_ = nullptr;
};

template <class T> class task_promise : public task_promise_base {
 public:
  task<T> get_return_object() noexcept;
  template <class U> void return_value(U&& value) { outcome_.template emplace<1>(std::forward<U>(value)); }
  void unhandled_exception() noexcept { outcome_.template emplace<2>(std::current_exception()); }
  T take() {
    if (outcome_.index() == 2) std::rethrow_exception(std::get<2>(std::move(outcome_)));
    return std::move(std::get<1>(outcome_));
  }

 private:
  std::variant<std::monostate, T, std::exception_ptr> outcome_;
};

template <> class task_promise<void> : public task_promise_base {
 public:
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }
  void take() {
    if (failure_) std::rethrow_exception(std::move(failure_));
  }

 private:
  std::exception_ptr failure_;
};

} // namespace detail

/// A lazy coroutine. It starts when awaited (or by `start`) and runs on the thread that starts or resumes it; awaiting
/// costs no allocation and no scheduler. Move-only; destroying a task that has not ended destroys its locals.
template <class T> class [[nodiscard]] task {
 public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  task() noexcept = default;
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    if (this != &other) {
      reset();
      frame_ = std::exchange(other.frame_, nullptr);
    }
    return *this;
  }
  ~task() { reset(); }

  explicit operator bool() const noexcept { return frame_ != nullptr; }

  /// Runs until the first suspension that lasts. `done` is notified at the end, possibly inside this call.
  void start(completion& done) {
    frame_.promise().notify_at_end(done);
    frame_.resume();
  }
  /// The value or the exception of a task that has ended; once.
  T take() { return frame_.promise().take(); }
  /// Destroys the coroutine.
  void reset() noexcept {
    if (frame_) std::exchange(frame_, nullptr).destroy();
  }

  auto operator co_await() && noexcept {
    struct awaiter {
      std::coroutine_handle<promise_type> frame;
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
        frame.promise().continue_with(waiter);
        return frame;
      }
      T await_resume() { return frame.promise().take(); }
    };
    return awaiter{frame_};
  }

 private:
  std::coroutine_handle<promise_type> frame_;
};

template <class T> task<T> detail::task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}
inline task<void> detail::task_promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

template <class> inline constexpr bool is_task = false;
template <class T> inline constexpr bool is_task<task<T>> = true;

} // namespace millrace
