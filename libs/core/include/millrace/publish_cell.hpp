#pragma once

#include <millrace/bytes.hpp>
#include <millrace/observer.hpp>
#include <millrace/outgoing.hpp>
#include <millrace/publish_pipeline.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace millrace {

namespace detail {

struct detached;

/// The address of this names an output's marker without RTTI.
template <class Marker> inline constexpr char output_tag = 0;

/// What a publisher handle shares with its service: filled at start, kept after shutdown (then the port answers
/// `closed`).
struct publish_cell {
  std::atomic<publish_port*> live = nullptr;
  std::shared_ptr<publish_port> port;
  millrace::runtime* runtime = nullptr; ///< like all of these, to be read after `live`
  std::atomic<observer*> watcher = nullptr;
  std::string broker;
  publish_pipeline pipeline;
  std::atomic<bool> in_transaction = false; ///< a borrowed one is open
  bool piped = false;                       ///< the pipeline does something; set at start
  std::string_view output;                  ///< the name of the handler's output that leads here, for observers

  /// `errc::not_connected` before the service started. Who waits on `op` says where it resumes. `origin`: the delivery
  /// that a reply answers.
  void publish(const outgoing& message, publish_operation& op, context* origin = nullptr) noexcept;
  /// The same for a request; what is lent stays until the task ended.
  task<result<reply_message>> request(const outgoing& message, duration timeout);
  /// Another way to the same port, for messages that are to be told apart.
  [[nodiscard]] std::shared_ptr<publish_cell> copy() const;

 private:
  [[gnu::noinline]] detached publish_through(outgoing message, publish_operation& op, context* origin);
  [[gnu::cold]] static void refuse(const outgoing& message, publish_operation& op) noexcept;
  task<result<reply_message>> request_through(publish_port& to, outgoing message, duration timeout);
  task<result<receipt>> send(publish_draft& draft);
  void tell(const outgoing& message) noexcept;
};

} // namespace detail

/// An awaited publish to a port; the message and its pieces are lent until it resumes.
class publish_awaiter {
 public:
  /// `refused`: where a builder keeps the reason why nothing is sent, if there is one.
  publish_awaiter(detail::publish_cell& cell, const outgoing& message, context* origin = nullptr,
                  std::optional<error>* refused = nullptr) noexcept
      : cell_(&cell), message_(&message), refused_(refused), origin_(origin), operation_(nullptr) {}
  publish_awaiter(detail::publish_cell&, const outgoing&&, context* = nullptr,
                  std::optional<error>* = nullptr) = delete;
  [[nodiscard]] bool await_ready() noexcept {
    if (refused_ != nullptr && *refused_) [[unlikely]]
      operation_.complete_now(fail(std::move(**refused_)));
    else
      cell_->publish(*message_, operation_, origin_);
    return operation_.done();
  }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept {
    operation_.resume_on(*cell_->runtime);
    return operation_.wait(waiter);
  }
  /// Once it is ready: whether the answer is no error.
  [[nodiscard]] bool accepted() const noexcept { return operation_.accepted(); }
  [[nodiscard]] result<receipt> await_resume() noexcept { return operation_.take(); }

 private:
  detail::publish_cell* cell_;
  const outgoing* message_;
  std::optional<error>* refused_;
  context* origin_;
  publish_operation operation_;
};

} // namespace millrace
