#pragma once

#include <millrace/rabbitmq/queue.hpp>
#include <millrace/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace millrace::rabbitmq {

/// TLS of an `amqps` address. The server's certificate and name are verified unless said otherwise.
class tls_options {
 public:
  tls_options() = default;
  /// PEM; default: the system's authorities.
  tls_options& ca_file(std::string path) { return ca_file_ = std::move(path), *this; }
  /// The client's certificate chain and key, both PEM; with `external_login` they are the login.
  tls_options& certificate(std::string chain_file, std::string key_file) {
    certificate_file_ = std::move(chain_file);
    key_file_ = std::move(key_file);
    return *this;
  }
  /// The name that the server's certificate must carry; default: the host of the address.
  tls_options& expected_hostname(std::string name) { return hostname_ = std::move(name), *this; }
  /// Accepts any server certificate. For tests.
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
  std::string uri;
  std::string connection_name;
  std::optional<std::uint16_t> prefetch;
  topology mode = topology::assume;
  std::optional<duration> heartbeat;
  duration connect_timeout = std::chrono::seconds(10);
  duration close_timeout = std::chrono::seconds(5);
  duration operation_timeout = std::chrono::seconds(30);
  duration publish_timeout = std::chrono::seconds(30);
  std::size_t write_buffer = 1024UL * 1024;
  std::size_t waiting_publishes = 65'536;
  duration backoff_first = std::chrono::milliseconds(100);
  duration backoff_most = std::chrono::seconds(10);
  bool external_login = false;
  tls_options tls;
};

} // namespace detail
} // namespace millrace::rabbitmq
