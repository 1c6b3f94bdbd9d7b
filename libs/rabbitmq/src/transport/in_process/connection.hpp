#pragma once

#include "transport/in_process/channel.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

/// The server's side of one connection: the handshake, and frames to channels.
class connection {
 public:
  using find_vhost = std::function<vhost&(const std::string& name)>;

  connection(std::uint64_t id, find_vhost find) : id_(id), find_(std::move(find)) {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { end(); }

  /// Bytes of the client. After each frame `done` is called, so that queues can work.
  void receive(std::string_view bytes, const std::function<void()>& done);
  /// The client is gone.
  void end();
  /// What is to be sent; the caller takes it.
  [[nodiscard]] std::string& out() noexcept { return out_; }

 private:
  enum class state : std::uint8_t { header, start, tune, open, ready, closed };

  [[nodiscard]] bool read_header();
  void on_frame(const frame& f);
  [[nodiscard]] answer<void> on_connection_method(method what, reader& args);
  [[nodiscard]] answer<void> on_channel_frame(const frame& f);
  [[nodiscard]] answer<void> on_channel_method(std::uint16_t number, reader& args);
  void close(std::uint16_t number, const refusal& why);

  std::uint64_t id_;
  find_vhost find_;
  vhost* host_ = nullptr;
  state state_ = state::header;
  std::string in_;
  std::string out_;
  std::uint32_t frame_max_ = largest_frame;
  std::map<std::uint16_t, std::unique_ptr<channel>> channels_; ///< null: closed by us, and the client not heard yet
};

} // namespace millrace::rabbitmq::detail::in_process
