#pragma once

#include <millrace/net/tls_options.hpp>
#include <millrace/rabbitmq/queue.hpp>
#include <millrace/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace millrace::rabbitmq {

/// TLS of an `amqps` address; with `external_login` its certificate is the login.
using net::tls_options;

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
