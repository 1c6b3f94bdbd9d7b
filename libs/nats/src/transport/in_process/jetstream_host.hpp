#pragma once

#include "transport/in_process/message.hpp"

#include <cstdint>
#include <string_view>

namespace millrace::nats::detail::in_process {

/// Beyond these a stream drops its oldest messages.
struct store_limits {
  std::size_t messages;
  std::size_t bytes;
};

/// What JetStream needs of the server around it.
class jetstream_host {
 public:
  jetstream_host() = default;
  jetstream_host(const jetstream_host&) = delete;
  jetstream_host& operator=(const jetstream_host&) = delete;
  virtual ~jetstream_host() = default;

  [[nodiscard]] virtual time_point now() const noexcept = 0;
  /// Nanoseconds of Unix time.
  [[nodiscard]] virtual std::int64_t unix_time(time_point at) const noexcept = 0;
  /// Queues a message for those who subscribe to `to`.
  virtual void send(std::string_view to, envelope e) = 0;
  [[nodiscard]] virtual bool has_interest(std::string_view subject) const noexcept = 0;
  [[nodiscard]] virtual store_limits limits() const noexcept = 0;
};

} // namespace millrace::nats::detail::in_process
