#pragma once

#include <atomic>
#include <memory>
#include <thread>

namespace millrace::amqp::testing {

/// A TCP proxy in front of a server that can cut every connection, or let nothing pass for a while.
class gate {
 public:
  explicit gate(unsigned short to);
  ~gate();
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  [[nodiscard]] unsigned short port() const noexcept { return port_; }
  /// Ends every connection at once; new ones are let in.
  void cut() noexcept { cut_.store(true); }
  /// Bytes in both directions wait until `release`.
  void hold() noexcept { held_.store(true); }
  void release() noexcept { held_.store(false); }

 private:
  class flows;
  void run();
  unsigned short to_;
  unsigned short port_ = 0;
  int listener_ = -1;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

} // namespace millrace::amqp::testing
