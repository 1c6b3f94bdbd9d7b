#pragma once

#include <millrace/error.hpp>

#include <system_error>

namespace millrace::pubsub {

/// What went wrong, in the words of Pub/Sub. The error's context names the topic, subscription or option; `server_code`
/// is the gRPC status code and `server_text` what the service said.
enum class errc {
  connect = 1,        ///< no channel: bad credentials or endpoint, nobody there; also `millrace::errc::connect`
  admin,              ///< a topic or subscription could not be looked up, created or updated; also `subscribe`
  receive,            ///< the streaming pull failed for good; also `millrace::errc::subscribe`
  publish,            ///< refused, or not accepted in time; also `millrace::errc::publish`
  not_connected,      ///< used after the shutdown; also `millrace::errc::closed` and `not_connected`
  invalid_descriptor, ///< refused before any call; also `millrace::errc::invalid_options`
  delay_beyond_lease, ///< a `retry_after` longer than the lease is kept; also `millrace::errc::invalid_options`
  queue_full,         ///< more is waiting to be published than the limit; also `millrace::errc::queue_full`
  shutdown,           ///< messages were not accepted before the shutdown's bound; also `millrace::errc::shutdown`
};

[[nodiscard]] const std::error_category& category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

} // namespace millrace::pubsub

template <> struct std::is_error_code_enum<millrace::pubsub::errc> : std::true_type {};
