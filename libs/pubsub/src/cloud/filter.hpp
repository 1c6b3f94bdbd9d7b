#pragma once

#include <pubsub_wire.pb.h>

#include <functional>
#include <optional>
#include <string_view>

namespace millrace::pubsub::detail {

using message_filter = std::function<bool(const wire::PubsubMessage&)>;

/// The service's filter language: `attributes:key`, `attributes.key = "v"`, `!=`, `hasPrefix(attributes.key, "v")`,
/// NOT,
/// `-`, AND, OR and brackets. Nothing if the text is not one; empty text passes everything.
[[nodiscard]] std::optional<message_filter> parse_filter(std::string_view text);

} // namespace millrace::pubsub::detail
