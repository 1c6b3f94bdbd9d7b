#pragma once

#include <millrace/error.hpp>
#include <millrace/nats/errors.hpp>
#include <millrace/runtime.hpp>

#include <nats/nats.h>

#include <string>

namespace millrace::nats::detail {

/// A failure of the client library, in its own words: its status as the server's code, its text as the server's text.
[[nodiscard]] error status_error(natsStatus status, errc kind, std::string context);

/// `millrace::duration` in the client's milliseconds; at least 1.
[[nodiscard]] std::int64_t to_milliseconds(duration d) noexcept;

} // namespace millrace::nats::detail
