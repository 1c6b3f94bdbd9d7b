#pragma once

#include <string>

namespace millrace::nats::detail::in_process {

/// An error of the JetStream API, in the server's words.
struct api_error {
  int code = 0;
  int err_code = 0;
  std::string description;
};

inline const api_error invalid_json{400, 10025, "invalid JSON"};
inline const api_error consumer_not_found{404, 10014, "consumer not found"};
inline const api_error filter_outside{400, 10093,
                                      "consumer filter subject is not a valid subset of the interest subjects"};

} // namespace millrace::nats::detail::in_process
