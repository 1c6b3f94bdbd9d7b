#pragma once

#include <millrace/batch_invocation.hpp>
#include <millrace/error.hpp>
#include <millrace/invocation.hpp>
#include <millrace/publish_cell.hpp>
#include <millrace/registration.hpp>
#include <millrace/task.hpp>

#include <coroutine>
#include <optional>

namespace millrace {

/// A reply on its way out: its destination, its content type, the registration's own transforms. Lent to its publish.
class outgoing_reply {
 public:
  /// The reply of a call. It has no destination where the sender wants none.
  outgoing_reply(const detail::subscription_plan& plan, invocation& call, incoming& m);
  /// One reply of a batch.
  outgoing_reply(const detail::subscription_plan& plan, batch_invocation& call, bytes_view payload);
  outgoing_reply(const outgoing_reply&) = delete;
  outgoing_reply& operator=(const outgoing_reply&) = delete;
  ~outgoing_reply() = default;

  /// Nothing is to be published, and that is no error.
  [[nodiscard]] bool unwanted() const noexcept { return message_.destination.empty() && !refused_; }
  [[nodiscard]] const outgoing& message() const noexcept { return message_; }
  /// What a transform refused.
  [[nodiscard]] std::optional<error>* refused() noexcept { return &refused_; }

 private:
  void transform(const detail::subscription_plan& plan, context& origin);
  void add_headers(const reply_form& form, std::string_view correlation);

  header_map headers_;
  outgoing message_;
  std::optional<publish_draft> draft_;
  std::optional<error> refused_;
};

/// The reply of a call, published: `result<receipt> sent = co_await reply`. Or without a coroutine, as far as that
/// goes: `start`, and then `take` or `co_await reply.started()`.
class reply_publish {
 public:
  reply_publish(const detail::subscription_plan& plan, invocation& call, incoming& m)
      : reply_(plan, call, m), publishing_(*plan.replies, reply_.message(), &call.ctx(), reply_.refused()) {}

  /// True: the answer is there.
  [[nodiscard]] bool start() noexcept { return reply_.unwanted() || publishing_.await_ready(); }
  /// Of one that is there: no error.
  [[nodiscard]] bool accepted() const noexcept { return reply_.unwanted() || publishing_.accepted(); }
  [[nodiscard]] result<receipt> take() noexcept {
    if (reply_.unwanted()) return receipt{};
    return publishing_.await_resume();
  }

  [[nodiscard]] bool await_ready() noexcept { return start(); }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return publishing_.await_suspend(waiter); }
  [[nodiscard]] result<receipt> await_resume() noexcept { return take(); }

  struct started_reply {
    reply_publish* reply;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiter) const noexcept { return reply->await_suspend(waiter); }
    [[nodiscard]] result<receipt> await_resume() const noexcept { return reply->take(); }
  };
  [[nodiscard]] started_reply started() noexcept { return {this}; }

 private:
  outgoing_reply reply_;
  publish_awaiter publishing_;
};

/// Publishes the replies of a batch, in one transaction if the registration says so: then all of them or none.
task<result<void>> send_batch_replies(const detail::subscription_plan& plan, batch_invocation& call);

} // namespace millrace
