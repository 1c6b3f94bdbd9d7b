#include "protocol/uri.hpp"

#include <millrace/rabbitmq/errors.hpp>

#include <charconv>

namespace millrace::rabbitmq::detail {
namespace {

std::unexpected<error> bad(std::string why) { return fail(errc::connect, "the URI: " + std::move(why)); }

int hex(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex(text[i + 1]);
    const int low = hex(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

/// Splits `text` at the first `mark`; what follows it goes into `rest`.
std::string_view split(std::string_view text, char mark, std::string_view& rest) noexcept {
  const std::size_t at = text.find(mark);
  rest = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return text.substr(0, at);
}

template <class Number> std::optional<Number> number(std::string_view text) noexcept {
  Number n = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
  return n;
}

result<endpoint> parse_host(std::string_view text, bool tls) {
  endpoint to;
  to.port = tls ? 5671 : 5672;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return bad("an address without its ']'");
    to.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (!text.empty() && text[0] != ':') return bad("what follows ']' is no port");
    port = text.empty() ? text : text.substr(1);
  } else {
    const auto host = decode(split(text, ':', port));
    if (!host) return bad("a host with a broken % escape");
    to.host = *host;
  }
  if (to.host.empty()) to.host = "localhost";
  if (port.empty()) return to;
  const auto n = number<std::uint16_t>(port);
  if (!n || *n == 0) return bad("a port that is no number from 1 to 65535");
  to.port = *n;
  return to;
}

result<void> parse_login(target& to, std::string_view login) {
  std::string_view password;
  const std::string_view user = split(login, ':', password);
  const auto decoded_user = decode(user);
  const auto decoded_password = decode(password);
  if (!decoded_user || !decoded_password) return bad("a login with a broken % escape");
  to.user = *decoded_user;
  to.password = *decoded_password;
  return {};
}

result<void> parse_option(target& to, std::string_view option) {
  std::string_view value;
  const std::string_view name = split(option, '=', value);
  const auto n = number<std::uint32_t>(value);
  if (name == "heartbeat" && n && *n <= 65535)
    to.heartbeat = std::chrono::seconds(*n);
  else if (name == "connection_timeout" && n)
    to.connect_timeout = std::chrono::milliseconds(*n);
  else if (name == "heartbeat" || name == "connection_timeout")
    return bad("'" + std::string(name) + "' is no number that fits");
  else
    return bad("the option '" + std::string(name) + "' is not known; there is heartbeat and connection_timeout");
  return {};
}

result<void> parse_authority(target& to, std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    if (auto login = parse_login(to, authority.substr(0, at)); !login) return login;
    authority.remove_prefix(at + 1);
  }
  for (std::string_view rest = authority;;) {
    const bool last = rest.find(',') == std::string_view::npos;
    auto host = parse_host(split(rest, ',', rest), to.tls);
    if (!host) return fail(std::move(host).error());
    to.hosts.push_back(std::move(*host));
    if (last) return {};
  }
}

/// Takes the scheme off.
bool take_scheme(std::string_view& uri, bool& tls) noexcept {
  tls = uri.starts_with("amqps://");
  if (!tls && !uri.starts_with("amqp://")) return false;
  uri.remove_prefix(tls ? 8 : 7);
  return true;
}

} // namespace

std::string endpoint::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

result<target> parse_uri(std::string_view uri) {
  target to;
  if (!take_scheme(uri, to.tls)) return bad("it begins with neither amqp:// nor amqps://");
  std::string_view query;
  const std::string_view address = split(uri, '?', query);
  std::string_view vhost;
  const std::string_view authority = split(address, '/', vhost);
  if (auto parsed = parse_authority(to, authority); !parsed) return fail(std::move(parsed).error());
  if (authority.size() < address.size()) {
    const auto decoded = decode(vhost);
    if (!decoded) return bad("a vhost with a broken % escape");
    if (vhost.find('/') != std::string_view::npos) return bad("a '/' inside the vhost is written %2F");
    if (decoded->size() > 255) return bad("the vhost is longer than 255 bytes");
    if (!decoded->empty()) to.vhost = *decoded;
  }
  while (!query.empty()) {
    if (auto parsed = parse_option(to, split(query, '&', query)); !parsed) return fail(std::move(parsed).error());
  }
  return to;
}

std::string describe_uri(std::string_view uri) {
  const auto parsed = parse_uri(uri);
  if (!parsed) return "rabbitmq";
  std::string text = parsed->tls ? "amqps://" : "amqp://";
  for (std::size_t i = 0; i < parsed->hosts.size(); ++i)
    text += (i == 0 ? "" : ",") + parsed->hosts[i].text();
  return text + "/" + (parsed->vhost == "/" ? "" : parsed->vhost);
}

} // namespace millrace::rabbitmq::detail
