#pragma once

#include "transport/in_process/jetstream_host.hpp"

#include <cstdint>
#include <deque>
#include <map>

namespace millrace::nats::detail::in_process {

struct stored_message {
  message_ptr content;
  std::int64_t time = 0; ///< Unix nanoseconds
};

/// The messages of a stream, by sequence from 1. Acknowledged ones stay, as on a server with limits retention; beyond
/// the limits the oldest go.
class message_store {
 public:
  explicit message_store(store_limits limits) noexcept : limits_(limits) {}

  std::uint64_t append(message_ptr m, std::int64_t time);
  [[nodiscard]] const stored_message* find(std::uint64_t sequence) const noexcept;
  [[nodiscard]] std::uint64_t first() const noexcept { return last_ + 1 - messages_.size(); }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] const store_limits& limits() const noexcept { return limits_; }
  [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// The last sequence of each subject that still has a message.
  [[nodiscard]] const std::map<std::string, std::uint64_t, std::less<>>& subjects() const noexcept { return last_of_; }
  [[nodiscard]] std::uint64_t last_of(std::string_view subject) const noexcept;

  [[nodiscard]] bool over_limit() const noexcept { return size() > limits_.messages || bytes_ > limits_.bytes; }
  message_ptr drop_oldest();

 private:
  store_limits limits_;
  std::deque<stored_message> messages_;
  std::map<std::string, std::uint64_t, std::less<>> last_of_;
  std::uint64_t last_ = 0;
  std::size_t bytes_ = 0;
};

} // namespace millrace::nats::detail::in_process
