#pragma once

#include "protocol/url.hpp"

#include <millrace/amqp/options.hpp>
#include <millrace/error.hpp>

#include <memory>
#include <string_view>

namespace millrace::amqp::detail {

/// Told by a transport, one call at a time.
class transport_listener {
 public:
  virtual void on_connected() noexcept = 0;
  virtual void on_bytes(std::string_view input) noexcept = 0;
  /// What `write` was given is with the system now; told where `write` answered false.
  virtual void on_written() noexcept = 0;
  /// The dial failed, or the connection is gone. Not told after `drop`.
  virtual void on_lost(error why) noexcept = 0;
  virtual void on_wake() noexcept = 0;

 protected:
  ~transport_listener() = default;
};

/// The only place that touches a socket: one connection at a time, and the thread that serves it.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// Begins to serve `to`. Once.
  virtual void start(transport_listener& to) = 0;
  /// Ends: when it returns, no call of the listener runs and none begins. Not inside a call of the listener.
  virtual void stop() noexcept = 0;
  /// Asks for `on_wake`, soon. From any thread; also after `stop`, where it does nothing.
  virtual void wake() noexcept = 0;
  /// Whether handlers may run right inside the listener's calls.
  [[nodiscard]] virtual bool may_run_handlers() const noexcept = 0;

  // Inside the listener's calls only.
  virtual void dial(const endpoint& to) noexcept = 0;
  /// One at a time. True: `bytes` are with the system already. False: they stay untouched until `on_written`, `on_lost`
  /// or `drop`.
  [[nodiscard]] virtual bool write(std::string_view bytes) noexcept = 0;
  /// Closes the connection at once.
  virtual void drop() noexcept = 0;
};

/// TCP, or TLS where `tls` is given, on a thread of its own.
[[nodiscard]] std::shared_ptr<transport> make_asio_transport(const tls_options* tls);

} // namespace millrace::amqp::detail
