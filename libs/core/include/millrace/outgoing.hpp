#pragma once

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>
#include <millrace/headers.hpp>
#include <millrace/runtime.hpp>
#include <millrace/task.hpp>

#include <atomic>
#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millrace {

/// One message on its way out. Everything is lent: a port copies what it keeps.
struct outgoing {
  std::string_view destination;
  bytes_view payload;
  const header_map* headers = nullptr; ///< null: none
  const void* options = nullptr;       ///< the policy's `options`; null: its defaults
};

/// What the broker said of an accepted message. Empty where a transport answers nothing (core NATS).
struct receipt {
  std::string id;             ///< the stream (JetStream) or the message id (Pub/Sub)
  std::uint64_t sequence = 0; ///< the position in the stream, where there is one
  bool duplicate = false;     ///< the broker had the message already
};

/// A publish under way, awaited once. Lives in the awaiting frame; a port completes it exactly once.
class publish_operation : private job {
 public:
  explicit publish_operation(runtime* rt) noexcept
      : job([](job& self) noexcept { static_cast<publish_operation&>(self).waiter_.resume(); }), runtime_(rt) {}
  publish_operation(const publish_operation&) = delete;
  publish_operation& operator=(const publish_operation&) = delete;

  /// Inside `publish_port::publish` only: the answer is known already.
  void complete_now(result<receipt> answer) noexcept {
    answer_ = std::move(answer);
    state_.store(state::done, std::memory_order_relaxed);
  }
  /// The same, of a transport that answers nothing: accepted, with an empty receipt.
  void complete_now() noexcept { state_.store(state::done, std::memory_order_relaxed); }
  /// Accepted at this position of a stream.
  void accept(std::uint64_t sequence) noexcept {
    sequence_ = sequence;
    complete_now();
  }
  /// From any thread, inside `publish` or later. Resumes the waiter on the runtime.
  void complete(result<receipt> answer) noexcept;

  /// Before `wait`: where the waiter resumes.
  void resume_on(runtime& rt) noexcept { runtime_ = &rt; }

  [[nodiscard]] bool done() const noexcept { return state_.load(std::memory_order_acquire) == state::done; }
  /// Of one that is done: no error.
  [[nodiscard]] bool accepted() const noexcept { return !answer_ || answer_->has_value(); }
  /// False: it is done already and the waiter need not suspend.
  bool wait(std::coroutine_handle<> waiter) noexcept;
  [[nodiscard]] result<receipt> take() noexcept {
    if (!answer_) [[likely]]
      return receipt{{}, sequence_};
    return std::move(*answer_);
  }

 private:
  enum class state : std::uint8_t { started, waiting, done };
  runtime* runtime_;
  std::coroutine_handle<> waiter_;
  std::atomic<state> state_ = state::started;
  std::uint64_t sequence_ = 0;
  std::optional<result<receipt>> answer_; ///< none: accepted, and no more is known than the position
};

/// An answer to a request.
struct reply_message {
  std::string payload;
  header_map headers;
};

/// Who holds an open transaction: the publisher (one at a time), or the caller (any number).
enum class transaction_kind : std::uint8_t { borrowed, owned };

/// An open transaction at the broker. Used by one coroutine at a time.
class transaction_port {
 public:
  transaction_port() = default;
  transaction_port(const transaction_port&) = delete;
  transaction_port& operator=(const transaction_port&) = delete;
  virtual ~transaction_port() = default;

  /// As `publish_port::publish`; nothing is visible before `commit`.
  virtual void publish(const outgoing& message, publish_operation& op) noexcept = 0;
  virtual task<result<void>> commit() = 0;
  virtual task<result<void>> abort() = 0;
  /// Called once, last: whatever is neither committed nor aborted is aborted, without waiting.
  virtual void abandon() noexcept = 0;
};

/// A live publisher of one policy. Shared; outlives its connection and then answers `errc::closed` with the
/// destination.
class publish_port {
 public:
  publish_port() = default;
  publish_port(const publish_port&) = delete;
  publish_port& operator=(const publish_port&) = delete;
  virtual ~publish_port() = default;

  /// Thread-safe, does not block; completes `op` now or later. A bad destination, header or option is an error that
  /// names it.
  virtual void publish(const outgoing& message, publish_operation& op) noexcept = 0;

  /// Publishes and waits for one correlated answer. Errors: `errc::timeout`, `errc::publish` (nobody listens),
  /// `errc::closed`.
  virtual task<result<reply_message>> request(outgoing message, duration timeout);

  /// Begins a transaction, where the broker has them.
  virtual task<result<std::unique_ptr<transaction_port>>> begin(transaction_kind kind);
};

} // namespace millrace
