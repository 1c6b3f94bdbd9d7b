#include <millrace/net/authority.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace millrace::net {
namespace {

using failure = std::unexpected<std::string>;

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::expected<std::uint16_t, std::string> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && port != 0) return port;
  return failure("a port that is no number from 1 to 65535");
}

/// Takes the host off; what is left is empty or begins with ':'.
std::expected<std::string, std::string> take_host(std::string_view& text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return failure("an address without its ']'");
    std::string host(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    if (!text.empty() && text[0] != ':') return failure("what follows ']' is no port");
    return host;
  }
  const std::size_t end = std::min(text.find(':'), text.size());
  auto host = percent_decoded(text.substr(0, end));
  if (!host) return failure("a host with a broken % escape");
  text.remove_prefix(end);
  return std::move(*host);
}

std::expected<endpoint, std::string> parse_host(std::string_view text, authority_defaults absent) {
  auto host = take_host(text);
  if (!host) return failure(std::move(host).error());
  if (host->empty()) *host = absent.host;
  if (host->empty()) return failure("a host is missing");
  if (text.size() < 2) return endpoint{std::move(*host), absent.port};
  const auto port = parse_port(text.substr(1));
  if (!port) return failure(port.error());
  return endpoint{std::move(*host), *port};
}

std::expected<login, std::string> parse_login(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  auto user = percent_decoded(text.substr(0, colon));
  auto password = percent_decoded(text.substr(std::min(colon + 1, text.size())));
  if (!user || !password) return failure("a login with a broken % escape");
  return login{std::move(*user), std::move(*password)};
}

} // namespace

std::string endpoint::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

std::expected<authority, std::string> parse_authority(std::string_view text, authority_defaults absent) {
  authority found;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    auto given = parse_login(text.substr(0, at));
    if (!given) return failure(std::move(given).error());
    found.login = std::move(*given);
    text.remove_prefix(at + 1);
  }
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    auto host = parse_host(text.substr(0, comma), absent);
    if (!host) return failure(std::move(host).error());
    found.hosts.push_back(std::move(*host));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return found;
}

std::string describe_hosts(std::string_view scheme, const std::vector<endpoint>& hosts) {
  std::string text = std::string(scheme) + "://";
  for (std::size_t i = 0; i < hosts.size(); ++i)
    text += (i == 0 ? "" : ",") + hosts[i].text();
  return text;
}

} // namespace millrace::net
