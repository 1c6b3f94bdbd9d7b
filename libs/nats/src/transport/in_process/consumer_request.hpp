#pragma once

#include "transport/in_process/consumer_config.hpp"

#include <string_view>

namespace millrace::nats::detail::in_process {

/// What the subject of a create request says.
struct create_subject {
  std::string_view stream;
  std::string_view name;   ///< empty: the server chooses one
  std::string_view filter; ///< of the form `CREATE.<stream>.<name>.<filter>`
  bool durable = false;    ///< the form `DURABLE.CREATE`
};

/// The consumer asked for, its name set where the subject has one; or what the server objects to.
[[nodiscard]] std::expected<consumer_config, api_error> parse_create_request(const create_subject& subject,
                                                                             std::string_view payload);

} // namespace millrace::nats::detail::in_process
