#pragma once

#include "protocol/status.hpp"

#include <millrace/incoming.hpp>
#include <millrace/runtime.hpp>
#include <millrace/task.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::pubsub::detail {

enum class method : std::uint8_t {
  create_topic,
  get_topic,
  delete_topic,
  publish,
  create_subscription,
  get_subscription,
  update_subscription,
  delete_subscription,
  acknowledge,
  modify_ack_deadline,
  streaming_pull,
};
inline constexpr std::size_t methods = 11;

/// "/google.pubsub.v1.Publisher/Publish"
[[nodiscard]] std::string_view path_of(method m) noexcept;

/// Bytes that stay as long as somebody holds them.
struct shared_bytes {
  std::shared_ptr<const void> owner;
  std::string_view view;
};

struct call_answer {
  call_status status;
  std::string body;
};

/// One request that is sent once. The body is shared, so that an attempt copies nothing.
struct call_request {
  method which = method::publish;
  std::shared_ptr<const std::string> body;
  std::string_view routing; ///< "topic=..." or "subscription=...", percent-encoded
  duration bound{};
};
using call_done = std::move_only_function<void(call_answer)>;

/// What becomes of a stream. `on_sent` may run beside the others; these do not overlap, and `on_closed` is the last.
class stream_events {
 public:
  stream_events() = default;
  stream_events(const stream_events&) = delete;
  stream_events& operator=(const stream_events&) = delete;
  virtual ~stream_events() = default;
  /// There is a connection, and the first request is on its way.
  virtual void on_sent() noexcept = 0;
  /// The server has accepted the stream.
  virtual void on_opened() noexcept = 0;
  /// One response. The next one comes after `pull_stream::read`.
  virtual void on_response(shared_bytes response) noexcept = 0;
  virtual void on_closed(call_status why) noexcept = 0;
};

/// An open streaming pull. Thread-safe.
class pull_stream {
 public:
  pull_stream() = default;
  pull_stream(const pull_stream&) = delete;
  pull_stream& operator=(const pull_stream&) = delete;
  virtual ~pull_stream() = default;
  virtual void send(std::string request) noexcept = 0;
  /// Asks for one response; once after each, and once at the start.
  virtual void read() noexcept = 0;
  /// Says that no request follows, so that the server ends it: what it sent before arrives, then `on_closed`.
  virtual void finish() noexcept = 0;
  /// Ends it; `on_closed` follows.
  virtual void cancel() noexcept = 0;
};

/// The only place that touches a socket, or the embedded service. Thread-safe.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// `done` is called once, on a thread of the transport, never inside this call.
  virtual void call(const call_request& request, call_done done) noexcept = 0;
  /// Begins a stream with its first request. The transport keeps `events` until it has called `on_closed`.
  virtual std::shared_ptr<pull_stream> open(std::string first, std::string_view routing,
                                            std::shared_ptr<stream_events> events) noexcept = 0;
  /// Cancels what is under way and waits until nothing of it is called any more, at most until `due`.
  virtual task<void> close(time_point due) = 0;
  /// The same without waiting.
  virtual void abandon() noexcept = 0;
  /// Whose thread responses arrive on.
  [[nodiscard]] virtual deliver_from delivers_from() const noexcept = 0;
};

} // namespace millrace::pubsub::detail
