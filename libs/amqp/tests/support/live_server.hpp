#pragma once

#include "support/server_tool.hpp"

#include <string>

namespace millrace::amqp::testing {

/// A server that all tests share; tools/with-<name> starts it with the first of them, and ends it after the last.
class live_server {
 public:
  explicit live_server(const std::string& name);
  live_server(const live_server&) = delete;
  live_server& operator=(const live_server&) = delete;

  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] unsigned short port() const;
  /// Another word of its description.
  [[nodiscard]] std::string word(const std::string& name) const;

 private:
  std::string described_;
  std::string url_;
};

/// A server of its own, that a test may harm; `url()` stays the same over kill and start.
class own_server {
 public:
  explicit own_server(const std::string& name);
  ~own_server();
  own_server(const own_server&) = delete;
  own_server& operator=(const own_server&) = delete;

  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  void kill();
  void start();
  /// SIGSTOP and SIGCONT: it is there, and answers nothing.
  void freeze();
  void thaw();

 private:
  void signal(int number);
  std::string tool_;
  std::string folder_;
  std::string url_;
  int holder_ = -1; ///< the pipe whose end ends the server
  int pid_ = -1;
};

using test_support::port_of;

/// The same URL at another port, such as a gate's.
std::string at_port(const std::string& url, unsigned short port);

} // namespace millrace::amqp::testing
