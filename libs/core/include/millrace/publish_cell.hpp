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

  /// `errc::not_connected` before the service started. `origin`: the delivery that a reply answers.
  void publish(const outgoing& message, publish_operation& op, context* origin = nullptr) noexcept;
  /// The same for a request; what is lent stays until the task ended.
  task<result<reply_message>> request(outgoing message, duration timeout);

 private:
  struct detached;
  detached publish_through(outgoing message, publish_operation& op, context* origin);
  task<result<receipt>> send(publish_draft& draft);
  void tell(const outgoing& message) noexcept;
};

/// An encoder's output buffer, recycled per thread.
class pooled_buffer {
 public:
  pooled_buffer() noexcept = default;
  pooled_buffer(pooled_buffer&& other) noexcept
      : text_(std::move(other.text_)), taken_(std::exchange(other.taken_, false)) {}
  pooled_buffer& operator=(pooled_buffer&&) = delete;
  ~pooled_buffer();
  byte_buffer& take();
  [[nodiscard]] bytes_view view() const noexcept { return as_bytes(text_); }

 private:
  byte_buffer text_;
  bool taken_ = false;
};

} // namespace detail

/// An awaited publish to a port; the pieces are lent until it resumes.
class publish_awaiter {
 public:
  publish_awaiter(detail::publish_cell& cell, const outgoing& message, std::optional<error> refused,
                  context* origin = nullptr) noexcept
      : cell_(&cell), message_(message), refused_(std::move(refused)), origin_(origin), operation_(nullptr) {}
  [[nodiscard]] bool await_ready() noexcept {
    if (refused_) return true;
    cell_->publish(message_, operation_, origin_);
    return operation_.done();
  }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return operation_.wait(waiter); }
  [[nodiscard]] result<receipt> await_resume() noexcept {
    if (refused_) return fail(std::move(*refused_));
    return operation_.take();
  }

 private:
  detail::publish_cell* cell_;
  outgoing message_;
  std::optional<error> refused_;
  context* origin_;
  publish_operation operation_;
};

} // namespace millrace
