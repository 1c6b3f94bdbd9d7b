#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::net {

struct endpoint {
  std::string host;
  std::uint16_t port = 0;
  /// "host:port"; an IPv6 address in brackets.
  [[nodiscard]] std::string text() const;
};

struct login {
  std::string user;
  std::string password;
};

/// What stands between the scheme and the path of a URL: `[user[:password]@]host[:port][,host[:port]...]`.
struct authority {
  std::optional<net::login> login; ///< never print it
  std::vector<endpoint> hosts;     ///< one at least
};

/// What a URL may leave out.
struct authority_defaults {
  std::uint16_t port;
  std::string_view host = {}; ///< empty: a host must be named
};

/// Percent escapes are decoded. The error says what is wrong and holds neither user nor password.
[[nodiscard]] std::expected<authority, std::string> parse_authority(std::string_view text, authority_defaults absent);

/// `text` with its %xx decoded; nothing where an escape is broken.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

/// "scheme://host:port,host:port".
[[nodiscard]] std::string describe_hosts(std::string_view scheme, const std::vector<endpoint>& hosts);

} // namespace millrace::net
