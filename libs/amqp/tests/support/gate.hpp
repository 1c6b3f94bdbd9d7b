#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>

namespace millrace::amqp::testing {

/// A TCP proxy in front of a server that can cut every connection, now or after some bytes, or let nothing pass for a
/// while.
class gate {
 public:
  explicit gate(unsigned short to);
  ~gate();
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  [[nodiscard]] unsigned short port() const noexcept { return port_; }
  /// Ends every connection at once; new ones are let in.
  void cut() noexcept { cut_.store(true); }
  /// Ends every connection once, when so many more bytes have passed, of both directions together.
  void cut_after(std::int64_t bytes) noexcept { left_.store(bytes); }
  /// Bytes that have passed.
  [[nodiscard]] std::int64_t passed() const noexcept { return passed_.load(); }
  /// Bytes in both directions wait until `release`.
  void hold() noexcept { held_.store(true); }
  void release() noexcept { held_.store(false); }

 private:
  class flows;
  void run();
  unsigned short to_;
  unsigned short port_ = 0;
  int listener_ = -1;
  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  bool pass_on(int from, int to);
  std::atomic<std::int64_t> left_ = unlimited; ///< before the cut
  std::atomic<std::int64_t> passed_ = 0;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

} // namespace millrace::amqp::testing
