#pragma once

#include <millrace/batch_invocation.hpp>
#include <millrace/error.hpp>
#include <millrace/invocation.hpp>
#include <millrace/registration.hpp>
#include <millrace/task.hpp>

namespace millrace {

/// Publishes the reply of a call. Nothing is published where the sender wants none.
task<result<void>> send_reply(const detail::subscription_plan& plan, invocation& call, incoming& m);

/// Publishes the replies of a batch, in one transaction if the registration says so: then all of them or none.
task<result<void>> send_batch_replies(const detail::subscription_plan& plan, batch_invocation& call);

} // namespace millrace
