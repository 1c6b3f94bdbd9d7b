#pragma once

#include <millrace/net/transport.hpp>
#include <millrace/runtime.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::amqp::detail {

/// The other end of a connection that has no socket.
class memory_peer {
 public:
  memory_peer() = default;
  memory_peer(const memory_peer&) = delete;
  memory_peer& operator=(const memory_peer&) = delete;
  virtual ~memory_peer() = default;
  virtual void input(std::string_view bytes) = 0;
  /// Appends what it has to say.
  virtual void output(std::string& to) = 0;
  /// It hung up.
  [[nodiscard]] virtual bool is_gone() const { return false; }
};

/// Who answers at an address; null: nobody.
using find_peer = std::function<std::unique_ptr<memory_peer>(const net::endpoint&)>;

/// A connection inside this process: the same bytes as over a socket, and every step a job of the runtime.
[[nodiscard]] std::shared_ptr<net::transport> make_memory_transport(runtime& rt, find_peer find);

/// The same to a broker of its own.
[[nodiscard]] std::shared_ptr<net::transport> make_local_transport(runtime& rt);

} // namespace millrace::amqp::detail
