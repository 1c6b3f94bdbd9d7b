#include "protocol/uri.hpp"

#include <millrace/rabbitmq/errors.hpp>

#include <charconv>

namespace millrace::rabbitmq::detail {
namespace {

std::unexpected<error> bad(const std::string& why) { return fail(errc::connect, "the URI: " + why); }

/// Splits `text` at the first `mark`; what follows it goes into `rest`.
std::string_view split(std::string_view text, char mark, std::string_view& rest) noexcept {
  const std::size_t at = text.find(mark);
  rest = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return text.substr(0, at);
}

std::optional<std::uint32_t> number(std::string_view text) noexcept {
  std::uint32_t n = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
  return n;
}

result<void> parse_option(target& to, std::string_view option) {
  std::string_view value;
  const std::string_view name = split(option, '=', value);
  const auto n = number(value);
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

result<void> parse_authority(target& to, std::string_view text) {
  const std::uint16_t port = to.tls ? 5671 : 5672;
  auto found = net::parse_authority(text, {.port = port, .host = "localhost"});
  if (!found) return bad(found.error());
  to.hosts = std::move(found->hosts);
  if (!found->login) return {};
  to.user = std::move(found->login->user);
  to.password = std::move(found->login->password);
  return {};
}

result<void> parse_vhost(target& to, std::string_view text) {
  auto vhost = net::percent_decoded(text);
  if (!vhost) return bad("a vhost with a broken % escape");
  if (text.find('/') != std::string_view::npos) return bad("a '/' inside the vhost is written %2F");
  if (vhost->size() > 255) return bad("the vhost is longer than 255 bytes");
  if (!vhost->empty()) to.vhost = std::move(*vhost);
  return {};
}

/// Takes the scheme off.
bool take_scheme(std::string_view& uri, bool& tls) noexcept {
  tls = uri.starts_with("amqps://");
  if (!tls && !uri.starts_with("amqp://")) return false;
  uri.remove_prefix(tls ? 8 : 7);
  return true;
}

} // namespace

result<target> parse_uri(std::string_view uri) {
  target to;
  if (!take_scheme(uri, to.tls)) return bad("it begins with neither amqp:// nor amqps://");
  std::string_view query;
  const std::string_view address = split(uri, '?', query);
  std::string_view vhost;
  const std::string_view authority = split(address, '/', vhost);
  if (auto parsed = parse_authority(to, authority); !parsed) return fail(std::move(parsed).error());
  if (auto parsed = parse_vhost(to, vhost); !parsed) return fail(std::move(parsed).error());
  while (!query.empty()) {
    if (auto parsed = parse_option(to, split(query, '&', query)); !parsed) return fail(std::move(parsed).error());
  }
  return to;
}

std::string describe_uri(std::string_view uri) {
  const auto parsed = parse_uri(uri);
  if (!parsed) return "rabbitmq";
  const std::string hosts = net::describe_hosts(parsed->tls ? "amqps" : "amqp", parsed->hosts);
  return hosts + "/" + (parsed->vhost == "/" ? "" : parsed->vhost);
}

} // namespace millrace::rabbitmq::detail
