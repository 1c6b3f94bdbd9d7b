#pragma once

#include <millrace/net/transport.hpp>
#include <millrace/runtime.hpp>

#include <memory>
#include <string>

namespace millrace::rabbitmq::detail {

/// A connection to a RabbitMQ in this process, for the session that also speaks to a real one: the same frames, without
/// a socket. All of it runs on the runtime, so that a test sees when it is quiescent. Transports of one runtime and
/// address meet at one server. `in_process/README.md` lists what it models.
[[nodiscard]] std::shared_ptr<net::transport> make_in_process_transport(runtime& rt, const std::string& address);

} // namespace millrace::rabbitmq::detail
