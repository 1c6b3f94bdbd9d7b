#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace millrace::pubsub::test {

/// A TCP proxy in front of a server that can let nothing pass for a while, as a peer that is gone without a word. It
/// still accepts connections then, as a kernel does.
class stalling_gate {
 public:
  explicit stalling_gate(const std::string& to);
  stalling_gate(const stalling_gate&) = delete;
  stalling_gate& operator=(const stalling_gate&) = delete;
  ~stalling_gate();

  [[nodiscard]] std::string address() const;
  void hold() { set_held(true); }
  void release() { set_held(false); }

 private:
  void accept_all();
  void pump(int from, int to);
  void set_held(bool on);

  std::uint16_t target_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  bool over_ = false;
  std::vector<int> sockets_;
  std::vector<std::thread> pumps_;
  std::thread acceptor_;
};

} // namespace millrace::pubsub::test
