#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/json.hpp>
#include <millrace/observer.hpp>
#include <millrace/outgoing.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace millrace {

namespace detail {

/// What a publisher handle shares with its service: filled at start, kept after shutdown (then the port answers
/// `closed`).
struct publish_cell {
  std::atomic<publish_port*> live = nullptr;
  std::shared_ptr<publish_port> port;
  millrace::runtime* runtime = nullptr;
  std::atomic<observer*> watcher = nullptr;
  std::string broker;

  /// `errc::not_connected` before the service started.
  void publish(const outgoing& message, publish_operation& op) noexcept;
  /// The same for a request; what is lent stays until the task ended.
  task<result<reply_message>> request(outgoing message, duration timeout);
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
  publish_awaiter(detail::publish_cell& cell, const outgoing& message, std::optional<error> refused) noexcept
      : cell_(&cell), message_(message), refused_(std::move(refused)), operation_(cell.runtime) {}
  [[nodiscard]] bool await_ready() noexcept {
    if (refused_) return true;
    cell_->publish(message_, operation_);
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
  publish_operation operation_;
};

/// A message being addressed: `co_await pub.message(value).to("orders").header("k", "v").with(option)`. Await it in the
/// expression that builds it: the destination and raw payload are lent.
template <class Policy> class [[nodiscard]] outbound {
 public:
  using options = typename Policy::options;

  explicit outbound(detail::publish_cell& cell) noexcept : cell_(&cell) {}

  outbound&& to(std::string_view destination) && noexcept {
    destination_ = destination;
    return std::move(*this);
  }
  /// Adds or replaces one header.
  outbound&& header(std::string_view name, std::string_view value) && {
    if (!headers_) headers_.emplace();
    headers_->set(name, value);
    return std::move(*this);
  }
  outbound&& headers(const header_map& more) && {
    if (!headers_) headers_.emplace();
    headers_->merge(more);
    return std::move(*this);
  }
  /// One of the policy's per-message options, e.g. `nats::message_id("o-1")`.
  template <class Option> outbound&& with(const Option& option) && {
    if (!options_) options_.emplace();
    apply(*options_, option);
    return std::move(*this);
  }

  publish_awaiter operator co_await() && noexcept { return {*cell_, pieces(), std::move(refused_)}; }

  /// Publishes and waits for one answer, at most `timeout` on the service's clock.
 task<result<reply_message>> request(duration timeout) &&
     requires(Policy::can_request) { return send_request(std::move(*this), timeout); }

     private : template <class>
               friend class publisher;
  template <class Codec, class T> void encode(const T& value) {
    if (auto encoded = Codec::encode(value, buffer_.take()); !encoded) refused_ = std::move(encoded).error();
    payload_ = buffer_.view();
    encoded_ = true;
  }
  [[nodiscard]] outgoing pieces() const noexcept {
    return {destination_, encoded_ ? buffer_.view() : payload_, headers_ ? &*headers_ : nullptr,
            options_ ? &*options_ : nullptr};
  }
  static task<result<reply_message>> send_request(outbound self, duration timeout) {
    if (self.refused_) co_return fail(std::move(*self.refused_));
    co_return co_await self.cell_->request(self.pieces(), timeout);
  }

  detail::publish_cell* cell_;
  std::string_view destination_;
  bytes_view payload_;
  detail::pooled_buffer buffer_;
  std::optional<header_map> headers_;
  std::optional<options> options_;
  std::optional<error> refused_;
  bool encoded_ = false;
};

/// A publisher of one policy, made while the service is built and live from its start to its shutdown. Copies share it;
/// any thread may publish. Before the start it answers `errc::not_connected`, after the shutdown `errc::closed`.
template <class Policy> class publisher {
 public:
  explicit publisher(std::shared_ptr<detail::publish_cell> cell) noexcept : cell_(std::move(cell)) {}

  /// A value in the codec's encoding.
  template <class Codec = json_codec, class T> [[nodiscard]] outbound<Policy> message(const T& value) const {
    outbound<Policy> out(*cell_);
    out.template encode<Codec>(value);
    return out;
  }
  /// Bytes as they are.
  [[nodiscard]] outbound<Policy> bytes(bytes_view payload) const noexcept {
    outbound<Policy> out(*cell_);
    out.payload_ = payload;
    return out;
  }
  [[nodiscard]] outbound<Policy> text(std::string_view payload) const noexcept { return bytes(as_bytes(payload)); }

  /// `co_await pub.publish("orders", order)`.
  template <class Codec = json_codec, class T>
  [[nodiscard]] outbound<Policy> publish(std::string_view destination, const T& value) const {
    return message<Codec>(value).to(destination);
  }

 private:
  std::shared_ptr<detail::publish_cell> cell_;
};

} // namespace millrace
