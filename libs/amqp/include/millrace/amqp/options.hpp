#pragma once

#include <millrace/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace millrace::amqp {

/// How the client logs in. A profile that is given wins over a login in the URL; without either it is `anonymous`.
class sasl {
 public:
  enum class mechanism : std::uint8_t { anonymous, plain, external };

  [[nodiscard]] static sasl anonymous() { return sasl(mechanism::anonymous, {}, {}); }
  [[nodiscard]] static sasl plain(std::string user, std::string password) {
    return sasl(mechanism::plain, std::move(user), std::move(password));
  }
  /// The credential comes from outside, such as the client's certificate.
  [[nodiscard]] static sasl external() { return sasl(mechanism::external, {}, {}); }

  [[nodiscard]] mechanism how() const noexcept { return how_; }
  [[nodiscard]] const std::string& user() const noexcept { return user_; }
  [[nodiscard]] const std::string& password() const noexcept { return password_; }

 private:
  sasl(mechanism how, std::string user, std::string password)
      : how_(how), user_(std::move(user)), password_(std::move(password)) {}
  mechanism how_;
  std::string user_;
  std::string password_;
};

/// TLS of an `amqps` address. The peer's certificate and name are verified unless said otherwise.
class tls_options {
 public:
  tls_options() = default;
  /// PEM; default: the system's authorities.
  tls_options& ca_file(std::string path) { return ca_file_ = std::move(path), *this; }
  /// The client's certificate chain and key, both PEM; with `sasl::external` they are the login.
  tls_options& certificate(std::string chain_file, std::string key_file) {
    certificate_file_ = std::move(chain_file);
    key_file_ = std::move(key_file);
    return *this;
  }
  /// The name that the peer's certificate must carry; default: the host of the address.
  tls_options& expected_hostname(std::string name) { return hostname_ = std::move(name), *this; }
  /// Accepts any certificate. For tests.
  tls_options& skip_verification() { return verify_ = false, *this; }

  [[nodiscard]] const std::string& authorities() const noexcept { return ca_file_; }
  [[nodiscard]] const std::string& chain() const noexcept { return certificate_file_; }
  [[nodiscard]] const std::string& key() const noexcept { return key_file_; }
  [[nodiscard]] const std::string& hostname() const noexcept { return hostname_; }
  [[nodiscard]] bool verifies() const noexcept { return verify_; }

 private:
  std::string ca_file_, certificate_file_, key_file_, hostname_;
  bool verify_ = true;
};

namespace detail {

/// What `broker` collects. Internal.
struct broker_settings {
  std::string url;
  std::optional<amqp::sasl> login;
  std::optional<std::string> container_id; ///< unset: "millrace" and a random part
  std::string virtual_host;
  tls_options tls;
  duration idle_timeout = std::chrono::seconds(60);
  std::uint32_t max_frame_size = 65'536;
  std::uint64_t max_message_size = 64ULL * 1024 * 1024;
  duration connect_timeout = std::chrono::seconds(10);
  duration close_timeout = std::chrono::seconds(8);
  duration operation_timeout = std::chrono::seconds(30);
  duration publish_timeout = std::chrono::seconds(30);
  duration idle_link = std::chrono::seconds(60);
  std::size_t most_links = 256;
  std::size_t waiting_publishes = 65'536;
  duration backoff_first = std::chrono::milliseconds(100);
  duration backoff_most = std::chrono::seconds(10);
};

} // namespace detail
} // namespace millrace::amqp
