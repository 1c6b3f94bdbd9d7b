#include "protocol/url.hpp"

#include <millrace/amqp/errors.hpp>

#include <utility>

namespace millrace::amqp::detail {
namespace {

std::unexpected<error> bad(const std::string& why) { return fail(errc::connect, "the URL: " + why); }

} // namespace

result<target> parse_url(std::string_view url) {
  target to;
  to.tls = url.starts_with("amqps://");
  if (!to.tls && !url.starts_with("amqp://")) return bad("it begins with neither amqp:// nor amqps://");
  url.remove_prefix(to.tls ? 8 : 7);
  if (url.ends_with('/')) url.remove_suffix(1);
  const std::string_view hosts = url.substr(url.rfind('@') + 1); // from the beginning, where there is no '@'
  if (hosts.find_first_of("/?#") != std::string_view::npos) return bad("AMQP 1.0 has no path; see virtual_host");
  auto found = net::parse_authority(url, {.port = to.tls ? std::uint16_t{5671} : std::uint16_t{5672}});
  if (!found) return bad(found.error());
  to.hosts = std::move(found->hosts);
  to.login = std::move(found->login);
  return to;
}

std::string describe_url(std::string_view url) {
  const auto parsed = parse_url(url);
  return parsed ? net::describe_hosts(parsed->tls ? "amqps" : "amqp", parsed->hosts) : "amqp";
}

} // namespace millrace::amqp::detail
