#pragma once

#include <string>
#include <utility>

/// Connections over TCP, for brokers that bring their own protocol.
namespace millrace::net {

/// TLS of a client. The server's certificate and name are verified unless said otherwise. Files are read when the
/// connection is dialled; one that cannot be read is an error that names it.
class tls_options {
 public:
  tls_options() = default;
  /// PEM; default: the system's authorities.
  tls_options& ca_file(std::string path) { return ca_file_ = std::move(path), *this; }
  /// The client's certificate chain and key, both PEM.
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

} // namespace millrace::net
