#pragma once

#include <millrace/net/authority.hpp>
#include <millrace/net/tls_options.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::net {

/// Told by a transport, one call at a time.
class transport_listener {
 public:
  virtual void on_connected() noexcept = 0;
  /// Answers how many bytes were used; the rest comes again, with more behind it.
  virtual std::size_t on_bytes(std::string_view input) noexcept = 0;
  /// What `write` was given is with the system now; told where `write` answered false.
  virtual void on_written() noexcept = 0;
  /// The dial failed, or the connection is gone. Not told after `drop`.
  virtual void on_lost(std::string why) noexcept = 0;
  virtual void on_wake() noexcept = 0;

 protected:
  ~transport_listener() = default;
};

/// The only place that touches a socket: one connection at a time, and the thread that serves it. A broker that runs in
/// process has one without sockets.
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

/// TCP without Nagle's delay, or TLS where `tls` is given, on a thread of its own. `read_room` is the most bytes that
/// `on_bytes` is given at once, so the longest piece that a protocol cannot use in parts.
[[nodiscard]] std::shared_ptr<transport> make_tcp_transport(const tls_options* tls, std::size_t read_room);

} // namespace millrace::net
