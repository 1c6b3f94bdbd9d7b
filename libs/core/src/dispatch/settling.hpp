#pragma once

#include "dispatch/worker.hpp"

namespace millrace {

/// Ends the message of a call that needs more than a plain acknowledgement: its reply, the retry rules, the settlement,
/// the observers and the continuations, in this order.
task<void> settle_call(subscription_loop& loop, invocation& call, incoming& m, ending how);

/// The same for one element of a batch: no reply, and only the continuations of its own outcome.
task<void> settle_element(subscription_loop& loop, incoming& m, ending how);

/// A reply that was not published: its message is delivered again.
[[nodiscard]] ending reply_failed(const subscription_loop& loop, const error& why);

/// Starts the continuations that match, on their own.
void run_continuations(subscription_loop& loop, std::unique_ptr<detail::settled_hook> hook, settlement_kind kind);

} // namespace millrace
