#pragma once

#include <millrace/error.hpp>
#include <millrace/net/authority.hpp>
#include <millrace/runtime.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::rabbitmq::detail {

/// A parsed `amqp[s]://` address. Holds credentials: never print it whole.
struct target {
  std::vector<net::endpoint> hosts;
  std::string user = "guest";
  std::string password = "guest";
  std::string vhost = "/";
  std::optional<duration> heartbeat;
  std::optional<duration> connect_timeout;
  bool tls = false;
};

/// `errc::connect` with what is wrong; the text holds neither user nor password.
[[nodiscard]] result<target> parse_uri(std::string_view uri);

/// Hosts and vhost of a URI, without credentials and query, also where the URI does not parse.
[[nodiscard]] std::string describe_uri(std::string_view uri);

} // namespace millrace::rabbitmq::detail
