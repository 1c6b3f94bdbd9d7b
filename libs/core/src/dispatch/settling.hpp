#pragma once

#include "dispatch/replies.hpp"
#include "dispatch/worker.hpp"

namespace millrace {

/// Ends the message of a call that needs more than a plain acknowledgement: its reply, the retry rules, the settlement,
/// the observers and the continuations, in this order. `begun`: its reply, if that is on its way already.
task<void> settle_call(subscription_loop& loop, invocation& call, incoming& m, ending how,
                       reply_publish* begun = nullptr);

/// The same for one element of a batch: no reply, and only the continuations of its own outcome. Without suspending, if
/// it can: then true, and `settle_element` is not due.
[[nodiscard]] bool settle_at_once(subscription_loop& loop, incoming& m, ending& how);
task<void> settle_element(subscription_loop& loop, incoming& m, ending how);

/// A reply that was not published: its message is delivered again.
[[nodiscard]] ending reply_failed(const subscription_loop& loop, const error& why);

/// Starts the continuations that match, on their own.
void run_continuations(subscription_loop& loop, std::unique_ptr<detail::settled_hook> hook, settlement_kind kind);

} // namespace millrace
