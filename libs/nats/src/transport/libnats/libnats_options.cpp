#include "transport/libnats/libnats_options.hpp"

#include "protocol/subject.hpp"
#include "transport/libnats/key_login.hpp"
#include "transport/libnats/libnats_status.hpp"

#include <algorithm>
#include <random>

namespace millrace::nats::detail {
namespace {

/// Sets one option after another until one is refused.
class option_setter {
 public:
  explicit option_setter(natsOptions* options) noexcept : options_(options) {}

  template <class Set, class... Args> void operator()(const char* name, Set set, Args... args) {
    if (fault_) return;
    const natsStatus status = set(options_, args...);
    if (status != NATS_OK) fault_ = status_error(status, errc::invalid_options, std::string("option ") + name);
  }
  template <class Set> void text(const char* name, Set set, const std::string& value) {
    if (!value.empty()) (*this)(name, set, value.c_str());
  }
  void refuse(const char* name, std::string why) {
    if (!fault_)
      fault_ = error(make_error_code(errc::invalid_options), std::string("option ") + name + ": " + std::move(why));
  }
  [[nodiscard]] std::optional<error>& fault() noexcept { return fault_; }

 private:
  natsOptions* options_;
  std::optional<error> fault_;
};

/// `part` is what the option is there for.
void check_key_file(option_setter& set, const char* option, const std::string& path,
                    std::initializer_list<std::string key_file::*> parts) {
  const std::optional<key_file> found = read_key_file(path);
  if (!found) return set.refuse(option, "cannot read '" + path + "'");
  for (const auto part : parts)
    if (((*found).*part).empty())
      set.refuse(option, std::string(part == &key_file::jwt ? "no user JWT" : "no seed") + " in '" + path + "'");
}

void set_login(option_setter& set, const connect_settings& s) {
  const int ways =
      int{!s.user.empty()} + int{!s.token.empty()} + int{!s.nkey.empty()} + int{!s.credentials_file.empty()};
  if (ways > 1) return set.refuse("user, token, nkey, credentials", "only one of them at a time");
  if (!s.user.empty()) set("user", natsOptions_SetUserInfo, s.user.c_str(), s.password.c_str());
  set.text("token", natsOptions_SetToken, s.token);
  if (!s.credentials_file.empty())
    check_key_file(set, "credentials_file", s.credentials_file, {&key_file::jwt, &key_file::seed});
  if (!s.nkey.empty() && s.nkey_seed.empty()) check_key_file(set, "nkey_file", s.nkey_seed_file, {&key_file::seed});
}

void set_tls(option_setter& set, const connect_settings& s, const std::vector<address>& servers) {
  if (!s.tls && std::ranges::none_of(servers, &address::tls)) return;
  set("tls", natsOptions_SetSecure, true);
  set.text("ca_file", natsOptions_LoadCATrustedCertificates, s.ca_file);
  if (!s.certificate_file.empty() || !s.key_file.empty())
    set("certificate", natsOptions_LoadCertificatesChain, s.certificate_file.c_str(), s.key_file.c_str());
  std::string expected = s.expected_hostname;
  if (expected.empty() && servers.size() == 1)
    expected = servers.front().host_port.substr(0, servers.front().host_port.rfind(':'));
  if (s.verify)
    set.text("expected_hostname", natsOptions_SetExpectedHostname, expected);
  else
    set("skip_verification", natsOptions_SkipServerVerification, true);
}

void set_times(option_setter& set, const connect_settings& s, std::size_t servers) {
  const auto each = s.connect_timeout / static_cast<std::int64_t>(std::max<std::size_t>(1, servers));
  set("connect_timeout", natsOptions_SetTimeout, to_milliseconds(each));
  set("ping_interval", natsOptions_SetPingInterval, to_milliseconds(s.ping_interval));
  set("ping_interval", natsOptions_SetMaxPingsOut, 2);
  set("max_reconnects", natsOptions_SetMaxReconnect,
      s.max_reconnects < 0 ? -1 : static_cast<int>(std::min<std::int64_t>(s.max_reconnects, 1 << 30)));
  set("reconnect_buffer", natsOptions_SetReconnectBufSize,
      static_cast<int>(std::clamp<std::size_t>(s.reconnect_buffer, 1, 1U << 30)));
}

void check_values(option_setter& set, const connect_settings& s) {
  if (check_subject(s.inbox_prefix) != subject_fault::none)
    set.refuse("inbox_prefix", "'" + s.inbox_prefix + "' is no subject");
  if (s.pending_limit == 0) set.refuse("pending_limit", "must be positive");
  if (s.certificate_file.empty() != s.key_file.empty()) set.refuse("certificate", "needs both a chain and a key");
  // NOLINTNEXTLINE(readability-simplify-boolean-expr): not a number is refused, too
  if (!(s.reconnect_jitter >= 0 && s.reconnect_jitter <= 1)) set.refuse("reconnect_jitter", "is a share, 0 to 1");
  const std::pair<const char*, duration> positive[] = {
      {"connect_timeout", s.connect_timeout},  {"ping_interval", s.ping_interval}, {"write_timeout", s.write_timeout},
      {"drain_timeout", s.drain_timeout},      {"api_timeout", s.api_timeout},     {"reconnect_wait", s.reconnect_wait},
      {"reconnect_wait", s.reconnect_wait_max}};
  for (const auto& [name, value] : positive)
    if (value <= duration::zero()) set.refuse(name, "must be positive");
}

} // namespace

std::int64_t reconnect_pause_milliseconds(const connect_settings& s, int round) noexcept {
  const int doublings = std::clamp(round - 1, 0, 20);
  const duration full = std::min(s.reconnect_wait * (std::int64_t{1} << doublings), s.reconnect_wait_max);
  thread_local std::minstd_rand random(std::random_device{}());
  const double share = std::uniform_real_distribution<double>(0, s.reconnect_jitter)(random);
  return to_milliseconds(std::chrono::duration_cast<duration>(full * (1 - share)));
}

result<options_handle> make_options(const connect_settings& s, const std::vector<address>& servers) {
  natsOptions* raw = nullptr;
  if (const natsStatus status = natsOptions_Create(&raw); status != NATS_OK)
    return fail(status_error(status, errc::invalid_options, "options"));
  options_handle options(raw);
  option_setter set(raw);
  check_values(set, s);

  std::vector<const char*> urls;
  urls.reserve(servers.size());
  for (const address& one : servers)
    urls.push_back(one.url.c_str());
  set("addresses", natsOptions_SetServers, urls.data(), static_cast<int>(urls.size()));
  set.text("name", natsOptions_SetName, s.name);
  set("no_echo", natsOptions_SetNoEcho, s.no_echo);
  set("inbox_prefix", natsOptions_SetCustomInboxPrefix, s.inbox_prefix.c_str());
  set("delivery", natsOptions_UseGlobalMessageDelivery, false);
  set_login(set, s);
  set_tls(set, s, servers);
  set_times(set, s, servers.size());
  if (set.fault()) return fail(std::move(*set.fault()));
  return options;
}

} // namespace millrace::nats::detail
