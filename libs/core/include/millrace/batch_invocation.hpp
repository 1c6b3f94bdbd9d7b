#pragma once

#include <millrace/invocation.hpp>

#include <memory>
#include <span>
#include <vector>

namespace millrace {

/// A batch being handled: the decoded values, the handler's coroutine and its answers, reused from batch to batch. A
/// worker owns one. The type-erased seam to a user's batch handler; `typed_batch_invocation` is its only subclass.
class batch_invocation {
 public:
  batch_invocation() = default;
  batch_invocation(const batch_invocation&) = delete;
  batch_invocation& operator=(const batch_invocation&) = delete;
  virtual ~batch_invocation() = default;

  /// Forgets the elements of the batch before.
  virtual void begin() noexcept = 0;
  /// Decodes one more element; on an error it is not part of the batch.
  virtual result<void> add(incoming& m) = 0;
  /// Calls the handler with what was added. May throw what it throws.
  virtual invocation::verdict start(rendezvous& meeting, completion& done) = 0;
  virtual void collect() = 0;

  /// The outcome of every element, unless `each` has one for each.
  [[nodiscard]] outcome& answer() noexcept { return uniform_; }
  void replace_answer(outcome o) noexcept { uniform_ = std::move(o); }
  context& ctx() noexcept { return ctx_; }
  [[nodiscard]] std::vector<outcome>* each() noexcept { return has_each_ ? &each_ : nullptr; }
  /// What the handler returned to be published before the batch is acknowledged.
  [[nodiscard]] std::span<const byte_buffer> replies() const noexcept { return {replies_.data(), reply_count_}; }
  [[nodiscard]] const std::optional<error>& failure() const noexcept { return failure_; }
  [[nodiscard]] bool is_plain() const noexcept {
    return uniform_.kind() == settlement_kind::ack && !uniform_.has_continuation() && !has_each_ && reply_count_ == 0 &&
           !failure_ && !ctx_.hooks_;
  }
  [[nodiscard]] std::unique_ptr<detail::settled_hook> take_hooks() noexcept { return std::move(ctx_.hooks_); }

  void bind(const invocation_binding& to) noexcept { ctx_.bind(to); }
  /// The batch's context speaks of its first element.
  void attach(incoming& first, std::size_t size) noexcept {
    ctx_.attach(first);
    ctx_.batch_size_ = size;
  }
  void detach() noexcept {
    ctx_.detach();
    failure_.reset();
    if (has_each_) each_.clear();
    has_each_ = false;
    reply_count_ = 0;
  }

 protected:
  [[nodiscard]] const void* state() const noexcept { return ctx_.state_; }
  void answer_with(outcome o) noexcept { uniform_ = std::move(o); }
  void answer_each(std::vector<outcome> each) noexcept {
    uniform_ = ack();
    each_ = std::move(each);
    has_each_ = true;
  }
  /// The buffer of one more reply; reused from batch to batch.
  [[nodiscard]] byte_buffer& next_reply() {
    if (reply_count_ == replies_.size()) replies_.emplace_back();
    byte_buffer& reply = replies_[reply_count_++];
    reply.clear();
    return reply;
  }
  void drop_replies() noexcept { reply_count_ = 0; }
  void fail_with(error e) noexcept { failure_ = std::move(e); }

 private:
  context ctx_;
  outcome uniform_ = ack();
  std::vector<outcome> each_;
  bool has_each_ = false;
  std::vector<byte_buffer> replies_;
  std::size_t reply_count_ = 0;
  std::optional<error> failure_;
};

/// Makes a batch invocation for each worker of a registration; owns the handler.
class batch_invocation_factory {
 public:
  batch_invocation_factory() = default;
  batch_invocation_factory(const batch_invocation_factory&) = delete;
  batch_invocation_factory& operator=(const batch_invocation_factory&) = delete;
  virtual ~batch_invocation_factory() = default;
  [[nodiscard]] virtual std::unique_ptr<batch_invocation> make(const invocation_binding& to) = 0;
  virtual void outputs(std::vector<output_need>& needs) const = 0;
  [[nodiscard]] virtual reply_form replies() const noexcept = 0;
};

} // namespace millrace
