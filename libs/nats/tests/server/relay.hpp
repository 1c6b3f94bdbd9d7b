#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace millrace::nats::test {

/// Stands between a client and a server, and can stop to take what the server sends, as a client does that does not
/// read: its kernel takes a little more, then the server's does, then the server holds it itself.
class relay {
 public:
  explicit relay(int server_port);
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;
  ~relay();

  [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }
  /// Nothing more goes from the server to the client; the other way is open.
  void hold() noexcept { held_.store(true); }
  /// Ends the connections, without what came while they were held (a message that is cut in two stays in nats.c's
  /// memory for ever), and relays new ones.
  void cut() noexcept { cut_.store(true); }
  /// The next client gets this challenge in place of the server's. Before that client dials.
  void challenge_next_with(std::string nonce) { nonce_ = std::move(nonce); }

 private:
  struct pair {
    int client = -1;
    int server = -1;
  };
  void run();
  void turn();
  void end_all();
  void accept_one();
  void greet(const pair& p);

  const int server_port_;
  int port_ = 0;
  int listener_ = -1;
  std::vector<pair> pairs_;
  std::atomic<bool> held_ = false;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> stopping_ = false;
  std::string nonce_;
  std::thread thread_;
};

} // namespace millrace::nats::test
