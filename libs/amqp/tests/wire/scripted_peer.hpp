#pragma once

#include "session/engine.hpp"
#include "transport/in_process/memory_transport.hpp"

#include <proton/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::amqp::testing {

/// What a peer does instead of what a polite one does. Each is asked once for each occasion.
struct peer_script {
  std::function<void(pn_link_t*)> on_attach;       ///< default: mirrors the termini, gives 100 credit
  std::function<void(pn_link_t*)> on_detach;       ///< default: answers
  std::function<void(pn_session_t*)> on_end;       ///< default: answers
  std::function<void(pn_connection_t*)> on_close;  ///< default: answers
  std::function<void(pn_session_t*)> on_begin;     ///< default: answers
  std::function<void(pn_delivery_t*)> on_transfer; ///< a whole message; default: accepts it
  std::string mechanisms = "ANONYMOUS PLAIN";
  std::string product;
  std::string version;
  std::string queue_prefix; ///< as ActiveMQ Classic announces them
  std::string topic_prefix;
  unsigned idle_timeout = 0;
  std::uint64_t max_message_size = 0;
  int credit = 100;
};

/// A peer that follows a script: Proton's engine as a server. It keeps what it was sent, frame by frame.
class scripted_peer final : public detail::memory_peer {
 public:
  scripted_peer(peer_script script, std::vector<std::string>& seen);
  void input(std::string_view bytes) override;
  void output(std::string& to) override;
  [[nodiscard]] bool is_gone() const override { return gone; }

  /// Links that are attached, by the address that they are about.
  std::map<std::string, pn_link_t*> links;
  /// What a receiver said of each message: "accepted", "modified failed", ...
  std::vector<std::string> dispositions;
  std::vector<std::string> messages; ///< the bytes of what it got
  bool gone = false;

  void send(const std::string& address, std::string_view bytes);
  /// Detaches as peers do when something is wrong.
  void detach(const std::string& address, const char* condition, bool closed = true);
  void end(const std::string& address, const char* condition);
  void close(const char* condition);
  /// Bytes of the test's own, after what the engine says.
  void say(std::string_view raw) { raw_ += raw; }
  [[nodiscard]] detail::engine& engine() noexcept { return engine_; }
  static void refuse(pn_link_t* link, const char* condition);
  void accept(pn_link_t* link);

 private:
  void dispatch();
  void on_event(pn_event_t* e);
  void on_delivery(pn_delivery_t* d);
  void log_frames(std::string_view bytes);
  peer_script script_;
  std::vector<std::string>* seen_;
  detail::engine engine_;
  std::string partial_;
  std::string raw_;
  std::uint64_t tag_ = 0;
};

/// A message with one data section.
std::string data_message(std::string_view payload);
[[nodiscard]] std::string frame_of(std::uint16_t channel, const std::string& body);
/// A detach frame with an error.
std::string detach_frame(std::uint16_t channel, std::uint8_t handle, std::string_view condition);
/// A transfer frame, whole and unsettled.
std::string transfer_frame(std::uint16_t channel, std::uint32_t handle, std::uint32_t id, std::string_view message);

} // namespace millrace::amqp::testing
