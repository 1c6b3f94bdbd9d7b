#pragma once

#include <millrace/error.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace millrace::pubsub {

/// How the client proves who it is. Plain configuration; files are read when the broker connects.
class credentials {
 public:
  /// Answers an OAuth 2 access token, without "Bearer". Called on a thread of the client for each request that finds no
  /// earlier answer, so it may block and should cache.
  using token_source = std::function<result<std::string>()>;

  /// Application Default Credentials: `GOOGLE_APPLICATION_CREDENTIALS`, the login of gcloud, or the metadata server of
  /// Google's machines. The default.
  [[nodiscard]] static credentials application_default() { return credentials(kind::application_default); }
  /// The key file (JSON) of a service account.
  [[nodiscard]] static credentials service_account_file(std::string path);
  [[nodiscard]] static credentials tokens(token_source source);
  /// None, on a channel without TLS: for emulators and fakes.
  [[nodiscard]] static credentials none() { return credentials(kind::none); }

  enum class kind : std::uint8_t { application_default, service_account_file, tokens, none };
  [[nodiscard]] kind what() const noexcept { return kind_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const token_source& source() const noexcept { return source_; }

 private:
  explicit credentials(kind k) : kind_(k) {}
  kind kind_;
  std::string path_;
  token_source source_;
};

inline credentials credentials::service_account_file(std::string path) {
  credentials made(kind::service_account_file);
  made.path_ = std::move(path);
  return made;
}
inline credentials credentials::tokens(token_source source) {
  credentials made(kind::tokens);
  made.source_ = std::move(source);
  return made;
}

} // namespace millrace::pubsub
