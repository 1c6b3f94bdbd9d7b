#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace millrace::test_support {

/// Which way bytes go.
enum class way : std::uint8_t { to_server, to_client };

/// A TCP relay between clients and a server of this machine, through which a test lets the network fail. It keeps
/// little: a side that does not read holds the other one back. Any thread may call it; it obeys at once, on a thread of
/// its own, which ends with it.
class tcp_relay {
 public:
  /// Sees what one connection's sides send before it passes, and may change it, shorten it or keep it back. Runs on the
  /// relay's thread; if it calls `cut` or `strand`, what it has left in `bytes` still passes, and nothing after that.
  using filter = std::function<void(way to, std::string& bytes)>;
  /// Makes the filter of each connection.
  using filters = std::function<filter(tcp_relay&)>;
  struct options {
    filters made = {};
    int server_room = 0; ///< bytes that the kernel takes from the server ahead of the relay; 0: its own choice
  };

  explicit tcp_relay(int server_port);
  tcp_relay(int server_port, options with);
  tcp_relay(const tcp_relay&) = delete;
  tcp_relay& operator=(const tcp_relay&) = delete;
  ~tcp_relay();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Host and port.
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  /// Resets every connection; what is on its way, or held, is lost. New connections are let in and not held.
  void cut() noexcept;
  /// Nothing passes until `release`, not even the end of a side. New connections are let in, as a kernel does.
  void hold() noexcept;
  /// The same for one way; the other one is open.
  void hold(way to) noexcept;
  void release() noexcept;
  /// Resets every connection of a client; the server is not told before `bury`.
  void strand() noexcept;
  void bury() noexcept;

 private:
  struct connection;
  void run();
  void wake() const noexcept;
  void wait_for_news() const;
  void obey();
  void accept_one();
  [[nodiscard]] bool stopped(way to) const noexcept;
  [[nodiscard]] bool pass(connection& through, way to) const;

  const int server_port_;
  const options with_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int bell_ = -1; ///< an eventfd: news for the thread
  std::vector<connection> connections_;
  std::vector<int> stranded_; ///< their servers' ends
  std::array<std::atomic<bool>, 2> held_{};
  std::atomic<bool> cut_ = false;
  std::atomic<bool> strand_ = false;
  std::atomic<bool> bury_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

} // namespace millrace::test_support
