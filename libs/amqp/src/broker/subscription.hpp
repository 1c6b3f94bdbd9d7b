#pragma once

#include "session/hub.hpp"

#include <millrace/amqp/address.hpp>
#include <millrace/broker.hpp>

#include <memory>

namespace millrace::amqp::detail {

/// Opens `source` in the order of lifecycle A3.
[[nodiscard]] task<open_result> open_subscription(std::shared_ptr<hub> shared, source_spec source, sink& to);

} // namespace millrace::amqp::detail
