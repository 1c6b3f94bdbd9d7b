#pragma once

#include <amqp.h>

#include <string>

namespace bench {

void check(int status, const char* what);
void check(const amqp_rpc_reply_t& reply, const char* what);

/// A connection of rabbitmq-c over its own socket, with one channel.
class connection {
 public:
  explicit connection(const std::string& url);
  ~connection() { close(); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  [[nodiscard]] amqp_connection_state_t get() const noexcept { return state_; }
  /// The closing handshake: when it returns, the server has read everything.
  void close();

 private:
  amqp_connection_state_t state_ = nullptr;
};

} // namespace bench
