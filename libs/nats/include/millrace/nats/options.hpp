#pragma once

#include <millrace/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::nats {

namespace detail {

/// What `connect_options` collects. Internal: read it through the setters' names.
struct connect_settings {
  std::string name;
  std::string user, password, token;
  std::string nkey, nkey_seed, nkey_seed_file, credentials_file;
  bool tls = false;
  bool verify = true;
  std::string ca_file, certificate_file, key_file, expected_hostname;
  bool no_echo = false;
  std::string inbox_prefix = "_INBOX";
  duration ping_interval = std::chrono::seconds(20);
  std::int64_t max_reconnects = -1;
  duration reconnect_wait = std::chrono::milliseconds(100);
  duration reconnect_wait_max = std::chrono::seconds(2);
  double reconnect_jitter = 0.5;
  std::size_t reconnect_buffer = std::size_t{8} * 1024 * 1024;
  duration connect_timeout = std::chrono::seconds(5);
  duration write_timeout = std::chrono::seconds(5);
  duration drain_timeout = std::chrono::seconds(10);
  duration api_timeout = std::chrono::seconds(5);
  std::uint32_t pending_limit = 65536;
};

} // namespace detail

/// How the client connects and behaves (lifecycle N1, N2). Every setter returns the object. Nothing is checked here; a
/// contradiction or an unreadable file is an error of `connect`, which names the option. Credentials are never shown.
class connect_options {
 public:
  connect_options() = default;

  /// What the server's monitoring shows.
  connect_options& name(std::string text) { return settings_.name = std::move(text), *this; }

  connect_options& user(std::string user, std::string password);
  connect_options& token(std::string token) { return settings_.token = std::move(token), *this; }
  /// A user's public key ("U...") and its seed ("SU..."), which signs the server's challenge and never leaves.
  connect_options& nkey(std::string public_key, std::string seed);
  /// The same with a file that holds the seed.
  connect_options& nkey_file(std::string public_key, std::string seed_path);
  /// A .creds file with a user JWT and its seed.
  connect_options& credentials_file(std::string path) { return settings_.credentials_file = std::move(path), *this; }

  /// Requires TLS. Implied by a `tls://` address and by the other TLS options.
  connect_options& tls() { return settings_.tls = true, *this; }
  connect_options& ca_file(std::string path);
  /// The client's certificate chain and its key, both PEM.
  connect_options& certificate(std::string chain_file, std::string key_file);
  /// The name that the server's certificate must carry; default: the host of the address.
  connect_options& expected_hostname(std::string name);
  /// Accepts any server certificate. For tests.
  connect_options& skip_verification();

  /// The connection does not hear what it publishes itself; its own responders do not count either.
  connect_options& no_echo(bool on = true) { return settings_.no_echo = on, *this; }
  /// The prefix of reply inboxes, for users with restricted permissions; default "_INBOX".
  connect_options& inbox_prefix(std::string prefix) { return settings_.inbox_prefix = std::move(prefix), *this; }

  /// A server that misses two answers in a row is given up and another is tried; default 20 s.
  connect_options& ping_interval(duration d) { return settings_.ping_interval = d, *this; }
  /// Attempts to each server before the connection is closed for good; negative: without end (the default).
  connect_options& max_reconnects(std::int64_t n) { return settings_.max_reconnects = n, *this; }
  /// The pause between rounds of attempts doubles from `first` (100 ms) to `most` (2 s).
  connect_options& reconnect_wait(duration first, duration most);
  /// The random share of that pause, 0 to 1; default 0.5.
  connect_options& reconnect_jitter(double share) { return settings_.reconnect_jitter = share, *this; }
  /// Bytes that are kept to be sent after a reconnect; more is an error of the publish. Default 8 MiB.
  connect_options& reconnect_buffer(std::size_t bytes) { return settings_.reconnect_buffer = bytes, *this; }

  /// Bounds `connect` as a whole, however many addresses there are; default 5 s.
  connect_options& connect_timeout(duration d) { return settings_.connect_timeout = d, *this; }
  /// How long a write to a server that does not read may block a publisher before the connection is given up; default 5
  /// s.
  connect_options& write_timeout(duration d) { return settings_.write_timeout = d, *this; }
  /// Bounds the drain of `shutdown`, and of one subscription; default 10 s.
  connect_options& drain_timeout(duration d) { return settings_.drain_timeout = d, *this; }
  /// Bounds the flush after a SUB, JetStream API calls and publish acknowledgements; default 5 s.
  connect_options& api_timeout(duration d) { return settings_.api_timeout = d, *this; }
  /// Messages that one core subscription may hold unhandled in the client; more are dropped and counted. Default
  /// 65,536.
  connect_options& pending_limit(std::uint32_t messages) { return settings_.pending_limit = messages, *this; }

  [[nodiscard]] const detail::connect_settings& settings() const noexcept { return settings_; }

 private:
  detail::connect_settings settings_;
};

inline connect_options& connect_options::user(std::string user, std::string password) {
  settings_.user = std::move(user);
  settings_.password = std::move(password);
  return *this;
}
inline connect_options& connect_options::nkey(std::string public_key, std::string seed) {
  settings_.nkey = std::move(public_key);
  settings_.nkey_seed = std::move(seed);
  return *this;
}
inline connect_options& connect_options::nkey_file(std::string public_key, std::string seed_path) {
  settings_.nkey = std::move(public_key);
  settings_.nkey_seed_file = std::move(seed_path);
  return *this;
}
inline connect_options& connect_options::ca_file(std::string path) {
  settings_.ca_file = std::move(path);
  return tls();
}
inline connect_options& connect_options::certificate(std::string chain_file, std::string key_file) {
  settings_.certificate_file = std::move(chain_file);
  settings_.key_file = std::move(key_file);
  return tls();
}
inline connect_options& connect_options::expected_hostname(std::string name) {
  settings_.expected_hostname = std::move(name);
  return tls();
}
inline connect_options& connect_options::skip_verification() {
  settings_.verify = false;
  return tls();
}
inline connect_options& connect_options::reconnect_wait(duration first, duration most) {
  settings_.reconnect_wait = first;
  settings_.reconnect_wait_max = most;
  return *this;
}

} // namespace millrace::nats
