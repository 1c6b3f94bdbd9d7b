#pragma once

#include "protocol/content.hpp"
#include "protocol/method.hpp"

#include <millrace/net/transport.hpp>
#include <millrace/runtime.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millrace::rabbitmq::testing {

namespace wire = detail;

/// What the client sent, in one word each: "basic.qos 50".
std::string describe_method(std::uint16_t channel, wire::method what, std::string_view arguments);

/// A transport and the server behind it, scripted: it answers what a server would, records every frame, and can refuse
/// or vanish at any of them. All on the test's runtime.
class scripted_server final : public net::transport, public std::enable_shared_from_this<scripted_server> {
 public:
  explicit scripted_server(runtime& rt) : runtime_(&rt) {}

  void start(net::transport_listener& to) override { listener_ = &to; }
  void stop() noexcept override { stopped_ = true; }
  void wake() noexcept override;
  void dial(const net::endpoint& to) noexcept override;
  [[nodiscard]] bool may_run_handlers() const noexcept override { return true; }
  bool write(std::string_view bytes) noexcept override;
  void drop() noexcept override { connected_ = false, ++connection_; }

  /// The methods that came, in order; content is not listed.
  std::vector<std::string> seen;
  std::vector<std::string> dialled;
  std::vector<std::string> bodies; ///< of the client's publishes
  std::size_t heartbeats = 0;
  std::size_t writes = 0;

  // The script.
  bool refuse_dials = false;
  bool silent = false;          ///< reads and answers nothing
  int vanish_at = -1;           ///< the connection breaks instead of the answer to the n-th method of this run
  std::uint16_t heartbeat = 60; ///< seconds, proposed
  std::uint16_t channel_max = 2047;
  /// Instead of the usual answer: appends what it wants to `out` and answers true.
  std::function<bool(std::uint16_t channel, wire::method what, std::string& out)> answer;

  /// Sends bytes to the client.
  void say(std::string bytes);
  void deliver(std::uint16_t channel, std::uint64_t tag, std::string_view key, std::string_view body,
               bool redelivered = false);
  void vanish();
  [[nodiscard]] bool connected() const noexcept { return connected_; }

 private:
  void later(std::function<void()> work);
  void on_client_frame(const wire::frame& f, std::string& out);
  void usual_answer(std::uint16_t channel, wire::method what, std::string& out);

  runtime* runtime_;
  net::transport_listener* listener_ = nullptr;
  std::string from_client_;
  std::string to_client_;
  bool greeted_ = false;
  bool connected_ = false;
  bool stopped_ = false;
  int connection_ = 0;
};

/// A method frame of the server.
std::string server_method(std::uint16_t channel, wire::method what,
                          const std::function<void(wire::writer&)>& arguments = {});
std::string channel_close(std::uint16_t channel, std::uint16_t code, std::string_view text);
std::string connection_close(std::uint16_t code, std::string_view text);

} // namespace millrace::rabbitmq::testing
