#pragma once

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>

namespace millrace {

using duration = std::chrono::nanoseconds;
/// A moment of the injected clock. In a test it is virtual and only `advance` moves it.
using time_point = std::chrono::steady_clock::time_point;

/// Work that a runtime runs once. Intrusive: posting allocates nothing; the owner keeps it alive until it has run.
class job {
 public:
  using function = void (*)(job&) noexcept;
  explicit job(function run) noexcept : run_(run) {}
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  void run() noexcept { run_(*this); }

  job* next = nullptr; ///< the runtime's link while the job is queued

 private:
  function run_;
};

/// A wake-up on the injected clock. Intrusive; alive until it fired or `disarm` answered true.
class timer {
 public:
  using function = void (*)(timer&) noexcept;
  enum class kind : std::uint8_t {
    bound,       ///< a bound on I/O: it runs its time
    cancellable, ///< a wait of user code: a stopping service gives it up
  };
  explicit timer(function fire, kind k = kind::bound) noexcept : fire_(fire), kind_(k) {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  void fire() noexcept { fire_(*this); }
  [[nodiscard]] bool cancellable() const noexcept { return kind_ == kind::cancellable; }
  /// The runtime gave the wait up before its time, because the service stops (`cancel_waits`).
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

  static constexpr std::size_t unarmed = static_cast<std::size_t>(-1);

 private:
  friend class timer_queue;
  function fire_;
  time_point due_{};
  std::uint64_t order_ = 0;
  std::size_t slot_ = unarmed;
  kind kind_;
  bool cancelled_ = false;
};

/// Where work runs and what time it is: the only scheduler and the only clock of a service. All members are
/// thread-safe.
class runtime {
 public:
  runtime() = default;
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  virtual ~runtime() = default;

  /// Runs `work` soon, never inside this call.
  virtual void post(job& work) noexcept = 0;

  [[nodiscard]] virtual time_point now() const noexcept = 0;
  /// Fires `wake` at `due` or later, on a thread of the runtime that runs no handlers: the callback must be short and
  /// must not block.
  virtual void arm(timer& wake, time_point due) noexcept = 0;
  /// True: the timer will not fire. False: it fired, or is firing now.
  virtual bool disarm(timer& wake) noexcept = 0;
  /// Fires every armed cancellable timer now, marked `cancelled`; one that is armed later fires at once, marked the
  /// same.
  virtual void cancel_waits() noexcept = 0;

  /// `threads(0)`: a broker's I/O thread may run handlers itself, in `sink::deliver`.
  [[nodiscard]] virtual bool dispatches_inline() const noexcept { return false; }

  /// Brackets work that the runtime cannot see (a socket, a foreign thread), so that a test waits for its end.
  virtual void external_begin() noexcept {}
  virtual void external_end() noexcept {}
  /// `post` and `external_end` in one step, for the end of outside work that wakes somebody: what it wakes may destroy
  /// the runtime before a second call.
  virtual void external_post(job& work) noexcept { post(work); }
};

/// Thrown by a wait that the stopping service gave up. Dispatch leaves the message unsettled: the broker redelivers it.
struct operation_cancelled {};

/// `co_await sleep_for(rt, 5s)`: suspends on the injected clock; resumes on the runtime. Throws `operation_cancelled`.
class sleep_for {
 public:
  sleep_for(runtime& rt, duration d) noexcept;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) noexcept;
  void await_resume() const;

 private:
  struct wake_timer : timer {
    explicit wake_timer(sleep_for& owner) noexcept;
    sleep_for* owner;
  };
  struct resume_job : job {
    explicit resume_job(sleep_for& owner) noexcept;
    sleep_for* owner;
  };
  runtime* runtime_;
  duration delay_;
  std::coroutine_handle<> waiter_;
  wake_timer timer_;
  resume_job resume_;
};

/// `co_await resume_on(rt)`: continues on the runtime, after what is queued there.
class resume_on {
 public:
  explicit resume_on(runtime& rt) noexcept;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) noexcept;
  void await_resume() const noexcept {}

 private:
  struct resume_job : job {
    resume_job() noexcept;
    std::coroutine_handle<> waiter;
  };
  runtime* runtime_;
  resume_job resume_;
};

} // namespace millrace
