#pragma once

#include <millrace/net/tls_options.hpp>
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

/// TLS of an `amqps` address; with `sasl::external` its certificate is the login.
using net::tls_options;

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
