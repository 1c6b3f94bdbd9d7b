#pragma once

#include <millrace/error.hpp>

#include <system_error>

namespace millrace::rabbitmq {

/// What went wrong, in the words of AMQP 0-9-1. The error's context names the queue, exchange or subscription;
/// `server_code` and `server_text` are the server's own.
enum class errc {
  connect = 1,     ///< bad URI, dial, TLS, login or handshake; also `millrace::errc::connect`
  publish,         ///< refused, negatively confirmed, returned as unroutable, or its acceptance is unknown
  subscribe,       ///< channel, qos, the check of the delay target, or consume; also `millrace::errc::subscribe`
  consume,         ///< an open consumer was lost; also `millrace::errc::subscribe`
  declare,         ///< an exchange, queue or binding was refused or differs; also `millrace::errc::subscribe`
  request,         ///< the requester's channel or reply consumer cannot be opened, or nobody listens; also
                   ///< `millrace::errc::publish`
  request_timeout, ///< no reply in time; also `millrace::errc::timeout`
  closed,          ///< the handle outlived its connection or its channel (lifecycle R6); also `millrace::errc::closed`
  invalid_options, ///< a name over 255 bytes, an empty queue, a contradictory declaration
  timeout,         ///< a bounded wait of the client ran out; also `millrace::errc::timeout`
};

[[nodiscard]] const std::error_category& category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

} // namespace millrace::rabbitmq

template <> struct std::is_error_code_enum<millrace::rabbitmq::errc> : std::true_type {};
