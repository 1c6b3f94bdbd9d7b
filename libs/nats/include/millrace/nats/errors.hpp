#pragma once

#include <millrace/error.hpp>

#include <system_error>

namespace millrace::nats {

/// What went wrong, in the words of NATS. The error's context names the subject, stream or option; `server_code` and
/// `server_text` are what the server said.
enum class errc {
  connect = 1,     ///< bad address, or dial or handshake failure; also `millrace::errc::connect`
  publish,         ///< the client refuses or cannot send; over the payload limit; nobody listens to a request
  subscribe,       ///< a core subscription was refused, or the flush after it failed
  jetstream,       ///< stream lookup, consumer, or publish ack; also `millrace::errc::subscribe` and `publish`
  request_timeout, ///< nothing answered in time; also `millrace::errc::timeout`
  closed,          ///< the handle was used after shutdown; also `millrace::errc::closed`
  shutdown,        ///< the drain did not take place; also `millrace::errc::shutdown`
  invalid_options, ///< an empty subject, a contradictory descriptor or option
  disconnected,    ///< the connection is lost and being restored; also `millrace::errc::not_connected`
};

[[nodiscard]] const std::error_category& category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

} // namespace millrace::nats

template <> struct std::is_error_code_enum<millrace::nats::errc> : std::true_type {};
