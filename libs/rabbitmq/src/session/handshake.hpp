#pragma once

#include "protocol/method.hpp"

#include <millrace/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail {

struct handshake_config {
  std::string user;
  std::string password;
  std::string vhost;
  std::string connection_name;
  bool external = false;
  std::optional<std::uint16_t> heartbeat; ///< seconds; nothing: the server's proposal
};

/// What client and server agreed on.
struct agreement {
  std::uint16_t channel_max = 2047;
  std::uint32_t frame_max = largest_frame;
  std::uint16_t heartbeat = 0; ///< seconds; 0: none
};

/// From the protocol header to connection.open-ok.
class handshake_machine {
 public:
  enum class progress : std::uint8_t { more, open, refused };

  explicit handshake_machine(handshake_config config) : config_(std::move(config)) {}

  /// Starts over, on a new connection.
  void begin(std::string& out);
  [[nodiscard]] progress on_method(method what, reader& args, std::string& out);
  /// What it means that the connection is lost now.
  [[nodiscard]] error lost(const error& why) const;

  [[nodiscard]] const agreement& agreed() const noexcept { return agreed_; }
  /// Why it was refused.
  [[nodiscard]] error failure() const;

 private:
  enum class state : std::uint8_t { start, tune, open };
  progress on_start(reader& args, std::string& out);
  progress on_tune(reader& args, std::string& out);
  progress refuse(std::string why);

  handshake_config config_;
  agreement agreed_;
  state state_ = state::start;
  std::optional<error> failure_;
};

} // namespace millrace::rabbitmq::detail
