#pragma once

#include <millrace/nats/options.hpp>

#include <nats/nats.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::nats::detail {

/// The JWT and the seed of a credentials file, or the seed alone; what is missing is empty.
struct key_file {
  std::string jwt, seed;
};
[[nodiscard]] key_file parse_key_file(std::string_view text);
/// None: it cannot be read.
[[nodiscard]] std::optional<key_file> read_key_file(const std::string& path);

/// The login with an nkey or a user JWT, for nats.c's callbacks. Files are read again at each connect.
///
/// nats.c before 3.8 sends CONNECT without the signature if its first byte is zero, as one in 256 is: the server
/// refuses the login, and a second time in a row ends a connection for good. There such a challenge is given up
/// instead; the next connection gets another.
class key_login {
 public:
  explicit key_login(const connect_settings& s) noexcept : settings_(s) {}
  key_login(const key_login&) = delete;
  key_login& operator=(const key_login&) = delete;

  /// For an nkey or for a credentials file, if the settings name one.
  [[nodiscard]] natsStatus install(natsOptions* options);
  /// Whether a challenge has been given up since this was last asked: dialling again is worth while.
  [[nodiscard]] bool gave_up() noexcept { return gave_up_.exchange(false); }

 private:
  static natsStatus read_jwt(char** jwt, char** fault, void* self) noexcept;
  static natsStatus sign(char** fault, unsigned char** signature, int* size, const char* nonce, void* self) noexcept;
  [[nodiscard]] std::string seed() const;

  const connect_settings& settings_;
  std::atomic<bool> gave_up_ = false;
};

} // namespace millrace::nats::detail
