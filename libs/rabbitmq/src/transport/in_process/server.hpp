#pragma once

#include "transport/in_process/alarm.hpp"
#include "transport/in_process/connection.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

/// A RabbitMQ in this process: vhosts and connections behind one lock. Whoever has something to send is called with
/// the lock held and asks for its bytes later.
class server : public std::enable_shared_from_this<server> {
 public:
  explicit server(runtime& rt) : runtime_(&rt) {}
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server();

  /// The server at that address on that runtime: the connections of one service meet there. It lives as long as they.
  [[nodiscard]] static std::shared_ptr<server> at(runtime& rt, const std::string& address);

  using id = std::uint64_t;
  [[nodiscard]] id connect(std::function<void()> has_output);
  void disconnect(id connection) noexcept;
  void receive(id connection, std::string_view bytes);
  /// Appends what the server has to say to that connection.
  void take_output(id connection, std::string& to);

 private:
  struct client {
    std::unique_ptr<in_process::connection> live;
    std::function<void()> has_output;
  };

  void watch_clock();
  void on_clock();
  vhost& find_vhost(const std::string& name);
  void run_queues();
  void finish();

  runtime* runtime_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<vhost>> vhosts_;
  std::map<id, client> clients_; ///< goes before the vhosts
  id last_ = 0;
  std::shared_ptr<alarm> alarm_;
};

} // namespace millrace::rabbitmq::detail::in_process
