#pragma once

#include "dispatch/replies.hpp"
#include "dispatch/worker.hpp"

#include <memory>
#include <optional>

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

/// Both kinds of continuation run after the same settlement: those that the context has for this kind, or for any, join
/// the outcome's own.
void take_over(outcome& chosen, std::unique_ptr<detail::settled_hook> registered, std::optional<settlement_kind> kind);

/// Starts the continuations of a whole batch, on their own, once the broker has all its settlements; none if one was
/// refused.
void run_batch_continuations(subscription_loop& loop, batch_settlement whole,
                             std::unique_ptr<detail::settled_hook> hooks, settlement_kind kind);

} // namespace millrace
