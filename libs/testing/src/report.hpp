#pragma once

#include <millrace/testing/record.hpp>

#include <span>
#include <string>
#include <string_view>

namespace millrace::testing {

/// A payload for a message: quoted where it is not plain, cut where it is long.
[[nodiscard]] std::string show_payload(std::string_view payload);
[[nodiscard]] std::string show_settlement(settlement how);
[[nodiscard]] std::string show_duration(duration d);
/// "4 deliveries", "1 call".
[[nodiscard]] std::string show_count(std::size_t n, std::string_view one, std::string_view many);
/// How a delivery ended, with the settlement that followed a failure: "exception, settled drop".
[[nodiscard]] std::string show_ending(const recorded_delivery& d);

/// The record, one line each.
[[nodiscard]] std::string list(std::span<const recorded_delivery> deliveries);
[[nodiscard]] std::string list(std::span<const recorded_publish> publishes);

} // namespace millrace::testing
