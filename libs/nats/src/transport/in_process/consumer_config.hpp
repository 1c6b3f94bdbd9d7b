#pragma once

#include "transport/in_process/api_error.hpp"

#include <millrace/runtime.hpp>

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace millrace::nats::detail::in_process {

enum class deliver_policy : std::uint8_t { all, last, fresh, by_start_sequence, by_start_time, last_per_subject };
enum class ack_policy : std::uint8_t { none, all, each };

struct consumer_config {
  std::string durable_name;
  std::string name;
  std::string filter_subject;
  deliver_policy deliver = deliver_policy::all;
  ack_policy ack = ack_policy::none; ///< the server's default when a request does not say
  std::uint64_t start_sequence = 0;
  std::optional<std::int64_t> start_time; ///< Unix nanoseconds
  std::int64_t ack_wait = 0;              ///< nanoseconds, like every duration of the API
  std::int64_t max_deliver = 0;
  std::int64_t max_waiting = 0;
  std::int64_t max_ack_pending = 0; ///< below 1: unlimited
  std::int64_t inactive_threshold = 0;
  std::vector<std::int64_t> backoff;
};

/// Reads the `config` of a create request. What the server would accept and this one does not model is an error too.
[[nodiscard]] std::expected<consumer_config, api_error> parse_consumer_config(const boost::json::value& config);
/// The server's defaults for what the request left open.
void set_defaults(consumer_config& config);
/// What the server refuses in a consumer that is made.
[[nodiscard]] std::optional<api_error> check_config(const consumer_config& config);
/// What the server refuses when `held` exists already.
[[nodiscard]] std::optional<api_error> check_update(const consumer_config& held, const consumer_config& wanted);
[[nodiscard]] boost::json::object to_json(const consumer_config& config);

} // namespace millrace::nats::detail::in_process
