#pragma once

#include <millrace/context.hpp>
#include <millrace/error.hpp>
#include <millrace/outcome.hpp>
#include <millrace/task.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// Lets whoever comes second continue: the caller that started a task, or the task's end on another thread.
class rendezvous {
 public:
  void reset() noexcept { flags_.store(0, std::memory_order_relaxed); }
  /// The starter goes; true: the task has ended already, and the starter continues.
  [[nodiscard]] bool leave() noexcept { return (flags_.fetch_or(left, std::memory_order_acq_rel) & ended) != 0; }
  /// The task ended; true: the starter has gone, and the ender continues.
  [[nodiscard]] bool end() noexcept { return (flags_.fetch_or(ended, std::memory_order_acq_rel) & left) != 0; }

 private:
  static constexpr std::uint8_t left = 1;
  static constexpr std::uint8_t ended = 2;
  std::atomic<std::uint8_t> flags_ = 0;
};

/// One message being handled: the decoded value, the handler's coroutine and its answer, reused from message to
/// message. A worker owns one. This is the type-erased seam to the user's handler; `typed_invocation` is its only
/// subclass.
class invocation {
 public:
  enum class verdict : std::uint8_t { finished, suspended, undecodable };

  invocation() = default;
  invocation(const invocation&) = delete;
  invocation& operator=(const invocation&) = delete;
  virtual ~invocation() = default;

  /// Decodes and calls the handler. `done` is notified if it suspended. May throw what the handler throws.
  virtual verdict start(rendezvous& meeting, completion& done) = 0;
  /// Takes the answer of a handler that had suspended; may throw what the handler throws.
  virtual void collect() = 0;
  /// Destroys a coroutine that will not be resumed any more.
  virtual void abandon() noexcept = 0;

  context& ctx() noexcept { return ctx_; }
  [[nodiscard]] outcome& answer() noexcept { return answer_; }
  [[nodiscard]] bool has_reply() const noexcept { return has_reply_; }
  [[nodiscard]] bytes_view reply() const noexcept { return as_bytes(reply_); }
  /// Why `start` answered `undecodable`, or why the handler's error side was taken (a log line).
  [[nodiscard]] const std::optional<error>& failure() const noexcept { return failure_; }

  /// Once, before the first message.
  void bind(const invocation_binding& to) noexcept { ctx_.bind(to); }
  [[nodiscard]] std::unique_ptr<detail::settled_hook> take_hooks() noexcept { return std::move(ctx_.hooks_); }
  void attach(incoming& m) noexcept {
    ctx_.attach(m);
    if (has_reply_) drop_reply();
  }
  /// The answer is an acknowledgement and nothing else.
  [[nodiscard]] bool is_plain() const noexcept {
    return answer_.kind() == settlement_kind::ack && !answer_.has_continuation() && !ctx_.hooks_ && !has_reply_ &&
           !failure_;
  }
  /// The answer is an acknowledgement after a reply, and nothing else.
  [[nodiscard]] bool is_plain_reply() const noexcept {
    return has_reply_ && answer_.kind() == settlement_kind::ack && !answer_.has_continuation() && !ctx_.hooks_ &&
           !failure_;
  }
  /// Middleware answered in the handler's place, or changed its answer.
  void replace_answer(outcome o) noexcept { answer_ = std::move(o); }
  /// After the settlement: forgets the message.
  void detach() noexcept {
    ctx_.detach();
    if (failure_) failure_.reset();
  }

 protected:
  [[nodiscard]] const void* state() const noexcept { return ctx_.state_; }
  void answer_with(outcome o) noexcept { answer_ = std::move(o); }
  void fail_with(error e) noexcept { failure_ = std::move(e); }
  [[nodiscard]] byte_buffer& begin_reply() noexcept {
    has_reply_ = true;
    return reply_;
  }
  void drop_reply() noexcept {
    has_reply_ = false;
    reply_.clear();
  }

 private:
  context ctx_;
  outcome answer_ = ack();
  bool has_reply_ = false;
  byte_buffer reply_;
  std::optional<error> failure_;
};

/// An output that a handler takes: what `registration::bind` must provide.
struct output_need {
  const void* tag = nullptr;
  std::string_view name;
};

/// How a handler's replies leave.
struct reply_form {
  bool any = false;              ///< the handler returns replies
  std::string_view destination;  ///< fixed by the reply's type; it beats the registration's
  std::string_view content_type; ///< the codec's; empty: bytes as they are
};

/// The header that names a payload's encoding, where it is not the default, JSON.
inline constexpr std::string_view content_type_header = "content-type";

/// Makes an invocation for each worker of a registration; owns the handler.
class invocation_factory {
 public:
  invocation_factory() = default;
  invocation_factory(const invocation_factory&) = delete;
  invocation_factory& operator=(const invocation_factory&) = delete;
  virtual ~invocation_factory() = default;
  [[nodiscard]] virtual std::unique_ptr<invocation> make(const invocation_binding& to) = 0;
  [[nodiscard]] virtual reply_form replies() const noexcept = 0;
  /// Adds the outputs that the handler takes.
  virtual void outputs(std::vector<output_need>& needs) const = 0;
};

} // namespace millrace
