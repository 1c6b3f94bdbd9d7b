#pragma once

#include "session/consumer.hpp"
#include "session/session.hpp"

#include <millrace/broker.hpp>

#include <memory>

namespace millrace::rabbitmq::detail {

/// Opens `queue` in the order of lifecycle R2.
[[nodiscard]] task<open_result> open_subscription(std::shared_ptr<link> shared, queue_spec queue, sink& to,
                                                  open_options options);

} // namespace millrace::rabbitmq::detail
