#pragma once

#include "protocol/address.hpp"
#include "transport/transport.hpp"

#include <millrace/nats/options.hpp>

#include <memory>
#include <vector>

namespace millrace::nats::detail {

/// Dials one of `servers` with nats.c, on a thread of its own, within the connect timeout (lifecycle N2). `listener`
/// hears of the connection's fate as long as it lives.
[[nodiscard]] task<result<std::shared_ptr<transport>>> connect_libnats(runtime& rt, std::vector<address> servers,
                                                                       connect_settings settings,
                                                                       std::weak_ptr<connection_listener> listener);

} // namespace millrace::nats::detail
