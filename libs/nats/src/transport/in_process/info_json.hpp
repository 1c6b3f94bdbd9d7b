#pragma once

#include "transport/in_process/stream.hpp"

#include <boost/json/fwd.hpp>

namespace millrace::nats::detail::in_process {

/// The bodies of STREAM.INFO and CONSUMER.INFO, without their type.
[[nodiscard]] boost::json::object info_of(const stream& s);
[[nodiscard]] boost::json::object info_of(std::string_view stream_name, const consumer& c);

} // namespace millrace::nats::detail::in_process
