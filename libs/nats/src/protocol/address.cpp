#include "protocol/address.hpp"

#include "protocol/subject.hpp"

#include <millrace/nats/errors.hpp>

#include <charconv>
#include <optional>

namespace millrace::nats::detail {
namespace {

constexpr std::string_view default_port = "4222";

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// Splits `text` after "scheme://"; an absent scheme is "nats".
std::string_view take_scheme(std::string_view& text) noexcept {
  const std::size_t at = text.find("://");
  if (at == std::string_view::npos) return "nats";
  const std::string_view scheme = text.substr(0, at);
  text.remove_prefix(at + 3);
  return scheme;
}

std::string_view take_user_info(std::string_view& text) noexcept {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return {};
  const std::string_view info = text.substr(0, at);
  text.remove_prefix(at + 1);
  return info;
}

bool is_port(std::string_view text) noexcept {
  unsigned value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc{} && end == text.data() + text.size() && value >= 1 && value <= 65535;
}

struct host_and_port {
  std::string_view host;
  std::string_view port;
};

host_and_port split_port(std::string_view text) noexcept {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return {text, default_port};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool is_host(std::string_view host) noexcept {
  if (host.empty() || has_whitespace(host)) return false;
  if (host.front() != '[') return host.find_first_of("[]/?#:") == std::string_view::npos;
  return host.size() > 2 && host.back() == ']';
}

std::unexpected<error> bad(std::string_view shown, std::string_view why) {
  return fail(errc::connect, "address '" + std::string(shown) + "': " + std::string(why));
}

result<address> parse_one(std::string_view text) {
  std::string_view rest = trim(text);
  const std::string_view scheme = take_scheme(rest);
  const std::string_view user = take_user_info(rest);
  if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  if (rest.empty()) return bad(rest, "empty");
  if (scheme != "nats" && scheme != "tls")
    return bad(rest, "the scheme is '" + std::string(scheme) + "', not nats or tls");
  const host_and_port at = split_port(rest);
  if (!is_host(at.host)) return bad(rest, "no such host name");
  if (!is_port(at.port)) return bad(rest, "no such port");

  address out;
  out.tls = scheme == "tls";
  out.host_port = std::string(at.host) + ':' + std::string(at.port);
  out.url = std::string(scheme) + "://";
  if (!user.empty()) out.url += std::string(user) + '@';
  out.url += out.host_port;
  return out;
}

template <class Each> void split_list(std::string_view list, Each each) {
  for (;;) {
    const std::size_t comma = list.find(',');
    each(list.substr(0, comma));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

} // namespace

result<std::vector<address>> parse_addresses(std::string_view list) {
  std::vector<address> all;
  std::optional<error> first;
  split_list(list, [&](std::string_view one) {
    result<address> parsed = parse_one(one);
    if (parsed)
      all.push_back(std::move(*parsed));
    else if (!first)
      first = std::move(parsed.error());
  });
  if (first) return fail(std::move(*first));
  return all;
}

std::string describe_addresses(std::string_view list) {
  std::string shown;
  split_list(list, [&](std::string_view one) {
    std::string_view rest = trim(one);
    (void)take_scheme(rest);
    (void)take_user_info(rest);
    if (!shown.empty()) shown += ',';
    shown += rest;
    if (!rest.empty() && rest.find(':') == std::string_view::npos) shown.append(":").append(default_port);
  });
  return shown;
}

} // namespace millrace::nats::detail
