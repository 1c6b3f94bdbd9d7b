#pragma once

#include "protocol/status.hpp"

#include <pubsub_wire.pb.h>

#include <string>
#include <string_view>

namespace millrace::pubsub::detail {

[[nodiscard]] call_status refuse(status_code code, std::string text);
[[nodiscard]] call_status not_found(std::string_view name);

/// OK, or INVALID_ARGUMENT with the reason, as the service has it.
[[nodiscard]] call_status check_publish(const wire::PublishRequest& request);
[[nodiscard]] call_status check_subscription(const wire::Subscription& s);
[[nodiscard]] call_status check_dead_letters(const wire::Subscription& s);
[[nodiscard]] call_status check_name(std::string_view collection, const std::string& name);

/// The refusal of acknowledgements that came too late at an exactly-once subscription.
[[nodiscard]] call_status refuse_ack_ids(const std::vector<std::string>& ids, std::string_view why);

} // namespace millrace::pubsub::detail
