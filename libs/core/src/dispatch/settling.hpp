#pragma once

#include "dispatch/lane.hpp"

namespace millrace {

/// Ends one message that needs more than a plain acknowledgement: its reply, the retry rules, the settlement, the
/// observers and the continuations, in this order.
task<void> settle(subscription_loop& loop, invocation& call, incoming& m, ending how);

} // namespace millrace
