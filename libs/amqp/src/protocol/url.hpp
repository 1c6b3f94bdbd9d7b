#pragma once

#include <millrace/error.hpp>
#include <millrace/net/authority.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::amqp::detail {

/// A parsed `amqp[s]://` address. Holds credentials: never print it whole.
struct target {
  std::vector<net::endpoint> hosts;
  std::optional<net::login> login;
  bool tls = false;
};

/// `errc::connect` with what is wrong; the text holds neither user nor password.
[[nodiscard]] result<target> parse_url(std::string_view url);

/// The hosts of a URL, without credentials, also where it does not parse.
[[nodiscard]] std::string describe_url(std::string_view url);

} // namespace millrace::amqp::detail
