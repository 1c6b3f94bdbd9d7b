#pragma once

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>
#include <millrace/headers.hpp>
#include <millrace/runtime.hpp>
#include <millrace/task.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::nats::detail {

/// How a transport's own message object is read and freed.
struct message_ops {
  void (*load_headers)(void* message, header_map& into);
  /// The value of one header, or empty; without building the whole map.
  std::string_view (*header)(void* message, const char* name);
  void (*free)(void* message) noexcept;
  bool text_ends_in_nul = false; ///< subject and reply are C strings, one character behind their views
};

/// A message from the server, owned. The views live as long as this object.
class received {
 public:
  received() noexcept = default;
  received(std::string_view subject, std::string_view reply, bytes_view payload, bool has_headers, void* message,
           const message_ops& ops) noexcept
      : subject_(subject), reply_(reply), payload_(payload), message_(message), ops_(&ops), has_headers_(has_headers) {}
  received(received&& other) noexcept { take(other); }
  received& operator=(received&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~received() { reset(); }
  void reset() noexcept {
    if (message_ != nullptr) ops_->free(message_);
    message_ = nullptr;
  }

  [[nodiscard]] std::string_view subject() const noexcept { return subject_; }
  [[nodiscard]] std::string_view reply() const noexcept { return reply_; }
  [[nodiscard]] bytes_view payload() const noexcept { return payload_; }
  [[nodiscard]] bool has_headers() const noexcept { return has_headers_; }
  [[nodiscard]] bool text_ends_in_nul() const noexcept { return ops_->text_ends_in_nul; }
  void load_headers(header_map& into) const {
    if (has_headers_) ops_->load_headers(message_, into);
  }
  [[nodiscard]] std::string_view header(const char* name) const {
    return has_headers_ ? ops_->header(message_, name) : std::string_view{};
  }

 private:
  void take(received& other) noexcept {
    subject_ = other.subject_;
    reply_ = other.reply_;
    payload_ = other.payload_;
    message_ = other.message_;
    ops_ = other.ops_;
    has_headers_ = other.has_headers_;
    other.message_ = nullptr;
  }
  std::string_view subject_;
  std::string_view reply_;
  bytes_view payload_;
  void* message_ = nullptr;
  const message_ops* ops_ = nullptr;
  bool has_headers_ = false;
};

/// Told of the messages of one subscription, one at a time, on the transport's thread (in process: the publisher's).
class receiver {
 public:
  /// `more`: another one is here already and follows at once, or `on_cut_short` does.
  virtual void on_message(received message, bool more) noexcept = 0;
  /// What `more` announced does not come: the subscription ended before.
  virtual void on_cut_short() noexcept {}
  /// `count` messages were discarded by the transport because this receiver was too slow.
  virtual void on_dropped(std::uint64_t count) noexcept = 0;

 protected:
  ~receiver() = default;
};

/// Told of the connection's fate, on a thread of the transport.
class connection_listener {
 public:
  virtual void on_disconnected(const error& why) noexcept = 0;
  virtual void on_reconnected() noexcept = 0;
  /// Closed and will not come back (authorization expired, the reconnects are used up), or closed by `close`.
  virtual void on_closed(const error& why) noexcept = 0;
  /// A server error that belongs to no call: a permission violation, with the server's text.
  virtual void on_server_error(std::string_view text) noexcept = 0;

 protected:
  ~connection_listener() = default;
};

struct server_facts {
  std::string address; ///< host:port as the server announced it
  std::string version;
  std::size_t max_payload = std::size_t{1024} * 1024; ///< bytes, headers included
};

struct transport_counters {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t connects = 0;
};

/// One SUB on the wire. Destroying it unsubscribes; after `stop` completes its receiver is not called any more.
class wire_subscription {
 public:
  wire_subscription() = default;
  wire_subscription(const wire_subscription&) = delete;
  wire_subscription& operator=(const wire_subscription&) = delete;
  virtual ~wire_subscription() = default;
  /// Unsubscribes; what the client holds already is still delivered before this completes (a drain). Bounded by
  /// `bound`.
  virtual task<void> stop(duration bound) = 0;
};

/// A message to the server. Everything is lent for the call. The caller has validated subject and headers.
struct wire_message {
  std::string_view subject;
  std::string_view reply;
  bytes_view payload;
  const header_map* headers = nullptr; ///< null or empty: plain PUB
};

/// A transport's short way for a plain PUB to a C string: one call, of its client.
class plain_publish {
 public:
  /// Answers 0 if it has sent.
  using function = int (*)(void* client, const char* subject, const void* payload, int size);
  plain_publish() = default;
  plain_publish(function send, void* client) noexcept : send_(send), client_(client) {}

  /// False: nothing was sent, and `transport::publish` sends it or says why not.
  [[nodiscard]] bool operator()(const char* subject, bytes_view payload) const noexcept {
    constexpr std::size_t most = std::numeric_limits<int>::max();
    return payload.size() <= most && send_(client_, subject, payload.data(), static_cast<int>(payload.size())) == 0;
  }

 private:
  function send_ = [](void*, const char*, const void*, int) { return 1; };
  void* client_ = nullptr;
};

/// The only place that touches a socket, or the in-process server that stands for one. Thread-safe.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  [[nodiscard]] virtual result<void> publish(const wire_message& message) noexcept = 0;
  /// Lives as long as the transport.
  [[nodiscard]] virtual plain_publish plain() const noexcept { return {}; }
  /// `queue` empty: no group. `receiver` outlives the subscription's `stop`.
  [[nodiscard]] virtual result<std::unique_ptr<wire_subscription>>
  subscribe(std::string_view subject, std::string_view queue, receiver& to, std::uint64_t pending_limit) = 0;
  /// Completes when the server has answered: everything sent before is processed there. `errc::timeout` after `bound`.
  virtual task<result<void>> flush(duration bound) = 0;
  /// Sends what is buffered, closes, and waits for the closed state. An error says what did not take place.
  virtual task<result<void>> close(duration bound) = 0;
  /// The last text of a server error since the last call, or empty (checked after a flush: subscribe permissions).
  [[nodiscard]] virtual std::string take_last_error() = 0;
  [[nodiscard]] virtual server_facts server() const = 0;
  [[nodiscard]] virtual transport_counters counters() const = 0;
  [[nodiscard]] virtual bool connected() const noexcept = 0;
  /// A fresh inbox subject under the configured prefix.
  [[nodiscard]] virtual std::string new_inbox() = 0;
};

} // namespace millrace::nats::detail
