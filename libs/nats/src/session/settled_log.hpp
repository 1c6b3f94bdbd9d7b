#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace millrace::nats::detail {

/// The latest messages that this process has settled for good, so that one which a server delivers again, because the
/// acknowledgement or the server's note of it was lost in an outage, is acknowledged again and not handled again. A
/// message is known by its sequence and the time it was stored: a stream that lost its end gives sequences out a second
/// time. A ring: what lies further back than its size may come again. Lock-free.
class settled_log {
 public:
  static constexpr std::size_t size = 16384; // sixteen times the widest window

  void record(std::string_view ack_subject) noexcept;
  [[nodiscard]] bool contains(std::string_view ack_subject) const noexcept;

 private:
  std::unique_ptr<std::atomic<std::uint64_t>[]> stored_at_{new std::atomic<std::uint64_t>[size]()};
};

} // namespace millrace::nats::detail
