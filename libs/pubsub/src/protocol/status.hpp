#pragma once

#include <millrace/error.hpp>
#include <millrace/pubsub/errors.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pubsub::detail {

/// The status codes of gRPC, under their numbers.
enum class status_code : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

[[nodiscard]] std::string_view name_of(status_code code) noexcept;

/// How a call ended.
struct call_status {
  status_code code = status_code::ok;
  std::string text;
  std::string details; ///< google.rpc.Status, encoded; empty: none
  [[nodiscard]] bool ok() const noexcept { return code == status_code::ok; }
};

/// Worth another attempt (pubsub 13).
[[nodiscard]] bool retries_admin(status_code code) noexcept;
[[nodiscard]] bool retries_publish(status_code code) noexcept;
/// The stream is opened again; also after OK and CANCELLED, which end it in silence.
[[nodiscard]] bool reopens_stream(status_code code) noexcept;

/// An error of this kind with what the service said.
[[nodiscard]] error status_error(errc kind, std::string context, const call_status& status);

/// What an exactly-once subscription said of the ids of a refused call.
struct refused_ids {
  std::vector<std::string> permanent;
  std::vector<std::string> transient;
  [[nodiscard]] bool empty() const noexcept { return permanent.empty() && transient.empty(); }
};
[[nodiscard]] refused_ids read_refused_ids(std::string_view details);

} // namespace millrace::pubsub::detail
