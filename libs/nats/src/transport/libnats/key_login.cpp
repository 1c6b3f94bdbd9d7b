#include "transport/libnats/key_login.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace millrace::nats::detail {
namespace {

constexpr std::string_view space = " \t\r\n";

bool is_border(std::string_view line) noexcept { return line.starts_with("---"); }

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t from = text.find_first_not_of(space);
  return from == std::string_view::npos ? std::string_view{}
                                        : text.substr(from, text.find_last_not_of(space) - from + 1);
}

std::string_view take_line(std::string_view& text) noexcept {
  const std::size_t end = text.find('\n');
  const std::string_view line = trimmed(text.substr(0, end));
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Leaves nothing of a secret in memory that is freed.
void wipe(std::string& secret) noexcept { explicit_bzero(secret.data(), secret.size()); }

char* c_copy(std::string_view text) noexcept { return strndup(text.data(), text.size()); }

natsStatus refuse(char** fault, const std::string& why) noexcept {
  *fault = c_copy(why);
  return NATS_ERR;
}

bool drops_signature(const unsigned char* signature) noexcept {
  constexpr std::uint32_t mended = 0x030800;
  return signature[0] == 0 && nats_GetVersionNumber() < mended;
}

} // namespace

key_file parse_key_file(std::string_view text) {
  key_file found;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty() || is_border(line)) continue;
    // A user's seed starts with SU, a JWT with the base64 of a brace.
    if (line.starts_with("SU") && found.seed.empty()) found.seed = line;
    if (line.starts_with("ey") && found.jwt.empty()) found.jwt = line;
  }
  return found;
}

std::optional<key_file> read_key_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(in), {}};
  key_file found = parse_key_file(text);
  wipe(text);
  return found;
}

natsStatus key_login::install(natsOptions* options) {
  if (!settings_.credentials_file.empty())
    return natsOptions_SetUserCredentialsCallbacks(options, read_jwt, this, sign, this);
  if (!settings_.nkey.empty()) return natsOptions_SetNKey(options, settings_.nkey.c_str(), sign, this);
  return NATS_OK;
}

std::string key_login::seed() const {
  if (!settings_.nkey_seed.empty()) return settings_.nkey_seed;
  const bool alone = settings_.credentials_file.empty();
  return read_key_file(alone ? settings_.nkey_seed_file : settings_.credentials_file).value_or(key_file{}).seed;
}

natsStatus key_login::read_jwt(char** jwt, char** fault, void* self) noexcept {
  const std::string& path = static_cast<key_login*>(self)->settings_.credentials_file;
  key_file found = read_key_file(path).value_or(key_file{});
  wipe(found.seed);
  if (found.jwt.empty()) return refuse(fault, "no user JWT in '" + path + "'");
  *jwt = c_copy(found.jwt);
  return *jwt == nullptr ? NATS_NO_MEMORY : NATS_OK;
}

natsStatus key_login::sign(char** fault, unsigned char** signature, int* size, const char* nonce, void* self) noexcept {
  if (nonce == nullptr) return NATS_OK; // this server does not challenge
  auto& login = *static_cast<key_login*>(self);
  std::string seed = login.seed();
  if (seed.empty()) return refuse(fault, "no nkey seed in its file");
  const natsStatus status = nats_Sign(seed.c_str(), nonce, signature, size);
  wipe(seed);
  if (status != NATS_OK || !drops_signature(*signature)) return status;
  std::free(std::exchange(*signature, nullptr));
  login.gave_up_ = true;
  return refuse(fault, "nats.c cannot send the signature of this challenge");
}

} // namespace millrace::nats::detail
