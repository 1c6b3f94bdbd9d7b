#pragma once

#include <millrace/runtime.hpp>
#include <millrace/task.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace millrace {

/// A flag that one coroutine at a time waits for, with a bound on the injected clock. Set from any thread; outlives its
/// waits.
class event {
 public:
  explicit event(runtime& rt) noexcept : runtime_(&rt) {}
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  void set() noexcept;
  void clear() noexcept;
  [[nodiscard]] bool is_set() const noexcept;

  class waiter {
   public:
    waiter(event& e, std::optional<time_point> due) noexcept;
    [[nodiscard]] bool await_ready() const noexcept { return event_->is_set(); }
    bool await_suspend(std::coroutine_handle<> handle) noexcept;
    /// True: the event was set; false: the time came first.
    bool await_resume() const noexcept { return !timed_out_; }

   private:
    friend class event;
    /// A bounded wait begins in two steps, and whoever comes second goes on with it: the one that began it, or the one
    /// that ends it.
    [[nodiscard]] bool second() noexcept { return met_.exchange(true, std::memory_order_acq_rel); }
    struct wake_timer : timer {
      explicit wake_timer(waiter& self) noexcept;
      waiter* owner;
    };
    struct resume_job : job {
      explicit resume_job(waiter& self) noexcept;
      waiter* owner;
    };
    event* event_;
    std::optional<time_point> due_;
    std::coroutine_handle<> handle_;
    bool timed_out_ = false;
    std::atomic<bool> met_ = false;
    wake_timer timer_;
    resume_job resume_;
  };

  /// `co_await e.wait()`
  [[nodiscard]] waiter wait() noexcept { return {*this, std::nullopt}; }
  /// `bool set = co_await e.wait_until(due)`
  [[nodiscard]] waiter wait_until(time_point due) noexcept { return {*this, due}; }

 private:
  static constexpr std::uintptr_t unset = 0;
  static constexpr std::uintptr_t set_already = 1;
  runtime* runtime_;
  std::atomic<std::uintptr_t> state_ = unset; ///< or the waiter
};

namespace detail {
struct detached;
}

/// Coroutines that run on their own and are counted, so that a shutdown can wait for them.
class task_group {
 public:
  explicit task_group(runtime& rt) : idle_(std::make_shared<counted>(rt)) {}
  /// Starts `work` on the calling thread. An exception that escapes it is logged under `what`, a string literal.
  void spawn(task<void> work, const char* what);
  [[nodiscard]] std::size_t size() const noexcept;
  /// Answers whether all ended before `due`.
  task<bool> drain(time_point due);

 private:
  struct counted {
    explicit counted(runtime& rt) noexcept : empty(rt) { empty.set(); }
    std::mutex mutex;
    std::size_t running = 0;
    event empty;
  };
  static detail::detached run(std::shared_ptr<counted> count, task<void> work, const char* what);
  std::shared_ptr<counted> idle_;
};

/// Runs `work` on the calling thread and blocks until it ended, wherever it was resumed. Not on a thread of the runtime
/// it needs.
template <class T> T sync_wait(task<T> work);

namespace detail {
class blocking_completion : public completion {
 public:
  blocking_completion() noexcept;
  ~blocking_completion();
  blocking_completion(const blocking_completion&) = delete;
  blocking_completion& operator=(const blocking_completion&) = delete;
  void wait();

 private:
  struct state;
  std::unique_ptr<state> state_;
};
} // namespace detail

template <class T> T sync_wait(task<T> work) {
  detail::blocking_completion done;
  work.start(done);
  done.wait();
  return work.take();
}

} // namespace millrace
