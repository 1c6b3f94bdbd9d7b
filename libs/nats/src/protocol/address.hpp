#pragma once

#include <millrace/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::nats::detail {

/// One server. `url` is what the client dials, with its credentials; `host_port` is what may be shown.
struct address {
  std::string url;
  std::string host_port;
  bool tls = false;
};

/// One address or a comma-separated list (lifecycle N1): `[nats://|tls://][user:password@]host[:port]`. Any bad one
/// fails the whole list with `errc::connect`; no credential is in the error.
[[nodiscard]] result<std::vector<address>> parse_addresses(std::string_view list);

/// The list without schemes and credentials, for people; never fails.
[[nodiscard]] std::string describe_addresses(std::string_view list);

} // namespace millrace::nats::detail
