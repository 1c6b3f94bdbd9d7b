#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace::rabbitmq::testing {

/// A TCP proxy of the test's own, in front of a server: it can cut every connection, or let nothing pass for a while.
class tcp_gate {
 public:
  explicit tcp_gate(std::uint16_t to);
  ~tcp_gate();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Ends every connection at once; new ones are let in.
  void cut() noexcept { cut_.store(true); }
  /// Bytes in both directions wait until `release`.
  void hold() noexcept { held_.store(true); }
  void release() noexcept { held_.store(false); }

 private:
  struct pair {
    int client = -1;
    int server = -1;
  };
  void run();
  void accept_one();
  [[nodiscard]] static bool forward(int from, int to);

  std::uint16_t to_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::vector<pair> pairs_;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

} // namespace millrace::rabbitmq::testing
