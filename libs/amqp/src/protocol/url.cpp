#include "protocol/url.hpp"

#include <millrace/amqp/errors.hpp>

#include <charconv>

namespace millrace::amqp::detail {
namespace {

std::unexpected<error> bad(std::string why) { return fail(errc::connect, "the URL: " + std::move(why)); }

int hex_digit(char c) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto at = digits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('%'), text.size());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const int high = text.size() < 3 ? -1 : hex_digit(text[1]);
    const int low = text.size() < 3 ? -1 : hex_digit(text[2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    text.remove_prefix(3);
  }
  return out;
}

result<void> parse_port(endpoint& to, std::string_view text) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), to.port);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && to.port != 0) return {};
  return bad("a port that is no number from 1 to 65535");
}

result<endpoint> parse_host(std::string_view text, std::uint16_t default_port) {
  endpoint to;
  to.port = default_port;
  std::size_t end = text.find(':');
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos) return bad("an address without its ']'");
    to.host = text.substr(1, end - 1);
    ++end;
    if (end < text.size() && text[end] != ':') return bad("what follows ']' is no port");
  } else {
    auto host = unescape(text.substr(0, end));
    if (!host) return bad("a host with a broken % escape");
    to.host = std::move(*host);
  }
  if (to.host.empty()) return bad("a host is missing");
  if (end >= text.size()) return to;
  if (auto port = parse_port(to, text.substr(end + 1)); !port) return fail(std::move(port).error());
  return to;
}

result<login> parse_login(std::string_view text) {
  const std::size_t colon = text.find(':');
  auto user = unescape(text.substr(0, colon));
  auto password = colon == std::string_view::npos ? std::optional<std::string>("") : unescape(text.substr(colon + 1));
  if (!user || !password) return bad("a login with a broken % escape");
  return login{std::move(*user), std::move(*password)};
}

} // namespace

std::string endpoint::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

result<target> parse_url(std::string_view url) {
  target to;
  to.tls = url.starts_with("amqps://");
  if (!to.tls && !url.starts_with("amqp://")) return bad("it begins with neither amqp:// nor amqps://");
  url.remove_prefix(to.tls ? 8 : 7);
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    auto parsed = parse_login(url.substr(0, at));
    if (!parsed) return fail(std::move(parsed).error());
    to.login = std::move(*parsed);
    url.remove_prefix(at + 1);
  }
  if (url.ends_with('/')) url.remove_suffix(1);
  if (url.find_first_of("/?#") != std::string_view::npos) return bad("AMQP 1.0 has no path; see virtual_host");
  while (true) {
    const std::size_t comma = url.find(',');
    auto host = parse_host(url.substr(0, comma), to.tls ? 5671 : 5672);
    if (!host) return fail(std::move(host).error());
    to.hosts.push_back(std::move(*host));
    if (comma == std::string_view::npos) return to;
    url.remove_prefix(comma + 1);
  }
}

std::string describe_url(std::string_view url) {
  const auto parsed = parse_url(url);
  if (!parsed) return "amqp";
  std::string text = parsed->tls ? "amqps://" : "amqp://";
  for (std::size_t i = 0; i < parsed->hosts.size(); ++i)
    text += (i == 0 ? "" : ",") + parsed->hosts[i].text();
  return text;
}

} // namespace millrace::amqp::detail
