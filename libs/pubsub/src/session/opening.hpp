#pragma once

#include "session/connection.hpp"

#include <millrace/broker.hpp>

namespace millrace::pubsub::detail {

/// Checks the descriptor and the declaration, and keeps the latter (lifecycle P3, P6).
[[nodiscard]] result<void> declare_registration(connection& shared, const pubsub::subscription& source,
                                                const open_options& options);

/// Does that, creates or updates what they say, and opens the streaming pull, in this
/// order (lifecycle P3 to P6).
[[nodiscard]] task<open_result> open_subscription(std::shared_ptr<connection> shared, pubsub::subscription source,
                                                  open_options options, sink& to);

} // namespace millrace::pubsub::detail
