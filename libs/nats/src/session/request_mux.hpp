#pragma once

#include "transport/transport.hpp"

#include <millrace/runtime.hpp>

#include <array>
#include <coroutine>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace millrace::nats::detail {

/// Told of the one answer to a request, once: the message, or `errc::request_timeout` or `errc::closed`. On the
/// transport's, the timer's or a closing thread; must be short.
class reply_waiter {
 public:
  virtual void on_reply(result<received> answer) noexcept = 0;

 protected:
  ~reply_waiter() = default;
};

/// All answers of a connection arrive on one wildcard subscription of an inbox: replies, JetStream publish
/// acknowledgements and JetStream API responses, told apart by the last token. A late answer finds no entry and is
/// ignored; an entry is freed by its answer, its deadline or `cancel`. Thread-safe.
class request_mux final : public receiver {
 public:
  request_mux(runtime& rt, transport& wire);
  ~request_mux();
  request_mux(const request_mux&) = delete;
  request_mux& operator=(const request_mux&) = delete;

  /// Names a pending request.
  struct ticket {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
  };

  /// Sends with a fresh reply subject; `waiter` is told within `timeout`. An error: nothing was sent, nobody is told.
  /// The waiter may be told before this returns; `out` is written before anything can tell it.
  [[nodiscard]] result<void> send(wire_message message, duration timeout, reply_waiter& waiter, ticket& out);
  /// True: the waiter will not be told. False: it was, or is being told.
  bool cancel(ticket which) noexcept;
  /// Tells everyone who waits, and refuses what comes.
  void close(const error& why) noexcept;
  /// Unsubscribes the inbox, bounded.
  [[nodiscard]] task<void> stop(duration bound);

  [[nodiscard]] std::size_t pending() const noexcept;

  void on_message(received message, bool more) noexcept override;
  void on_dropped(std::uint64_t) noexcept override {} // their deadlines answer

 private:
  enum class phase : std::uint8_t { idle, pending, answered, fired, orphan };
  struct slot : timer {
    slot(request_mux& m, std::uint32_t i) noexcept;
    request_mux* mux;
    reply_waiter* waiter = nullptr;
    std::uint32_t index;
    std::uint32_t generation = 0;
    std::uint32_t next_free = no_slot;
    phase state = phase::idle;
  };
  static constexpr std::uint32_t no_slot = 0xffffffff;
  using subject_buffer = std::array<char, 160>;

  [[nodiscard]] result<void> start();
  [[nodiscard]] bool quiet() const noexcept;
  [[nodiscard]] slot* claim(reply_waiter& waiter);
  [[nodiscard]] reply_waiter* take(ticket which) noexcept;
  void settle_timer(slot& s) noexcept;
  void free_locked(slot& s) noexcept;
  void on_deadline(slot& s) noexcept;
  [[nodiscard]] std::string_view reply_subject(const slot& s, subject_buffer& storage) const noexcept;

  runtime& runtime_;
  transport& wire_;
  mutable std::mutex mutex_;
  std::string inbox_; ///< with the trailing dot
  std::unique_ptr<wire_subscription> subscription_;
  std::deque<slot> slots_;
  std::uint32_t first_free_ = no_slot;
  std::size_t pending_ = 0;
  bool closed_ = false;
};

/// `co_await mux_call(...)`: one request of a coroutine; resumes on the runtime. The message is lent until then.
class mux_call final : public reply_waiter {
 public:
  mux_call(request_mux& mux, runtime& rt, wire_message message, duration timeout) noexcept;
  mux_call(const mux_call&) = delete;
  mux_call& operator=(const mux_call&) = delete;
  ~mux_call();

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter);
  [[nodiscard]] result<received> await_resume() noexcept { return std::move(answer_); }

  void on_reply(result<received> answer) noexcept override;

 private:
  struct resume_job : job {
    explicit resume_job(mux_call& c) noexcept;
    mux_call* call;
  };
  request_mux& mux_;
  runtime& runtime_;
  wire_message message_;
  duration timeout_;
  std::coroutine_handle<> waiter_;
  request_mux::ticket ticket_;
  resume_job resume_;
  result<received> answer_;
};

/// Whether a reply is the server's "no responders" status, and which status a message carries (0: none).
[[nodiscard]] unsigned status_of(const received& message) noexcept;

} // namespace millrace::nats::detail
