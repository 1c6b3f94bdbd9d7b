#pragma once

#include <string>

namespace millrace::testing::conformance {

/// A TCP port of 127.0.0.1 where a server could be: it notices who connects, and answers nothing.
class listener {
 public:
  listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener();

  [[nodiscard]] std::string host_port() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Somebody connected since the last call.
  [[nodiscard]] bool was_dialled() const;
  /// From here on a connection is refused.
  void close();

 private:
  int socket_;
  int port_ = 0;
};

} // namespace millrace::testing::conformance
