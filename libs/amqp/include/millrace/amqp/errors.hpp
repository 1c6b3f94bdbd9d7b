#pragma once

#include <millrace/error.hpp>

#include <system_error>

namespace millrace::amqp {

/// What went wrong, in the words of AMQP 1.0. The error's context names the address; `server_text` is the peer's
/// condition and description, for instance "amqp:not-found: no such queue".
enum class errc {
  connect = 1,      ///< bad URL, dial, TLS, SASL or `open`; also `millrace::errc::connect`
  session,          ///< a session was refused or ended; also `millrace::errc::connect`
  attach,           ///< the peer refused a link; also `millrace::errc::subscribe` and `publish`
  detach,           ///< closing a link failed in the shutdown; also `millrace::errc::shutdown`
  publish,          ///< the transfer failed, or its outcome is unknown; also `millrace::errc::publish`
  not_accepted,     ///< the peer rejected, released or modified the message; also `millrace::errc::publish`
  receive,          ///< an open subscription was lost; also `millrace::errc::subscribe`
  unsupported_body, ///< a body that has no byte form; also `millrace::errc::decode`
  request_timeout,  ///< no matching reply in time; also `millrace::errc::timeout`
  closed, ///< the handle outlived its connection or its link (lifecycle A6, A7); also `millrace::errc::closed` and
          ///< `not_connected`
  invalid_address, ///< an address or descriptor that is refused before any I/O; also `millrace::errc::invalid_options`
  invalid_options, ///< an option or header that cannot be sent
  transaction,     ///< a declare or a discharge failed, or out of order; also `millrace::errc::publish`
  timeout,         ///< a bounded wait of the client ran out; also `millrace::errc::timeout`
};

[[nodiscard]] const std::error_category& category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

} // namespace millrace::amqp

template <> struct std::is_error_code_enum<millrace::amqp::errc> : std::true_type {};
