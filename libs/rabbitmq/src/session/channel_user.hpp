#pragma once

#include "protocol/method.hpp"

#include <millrace/error.hpp>

#include <cstdint>
#include <string_view>

namespace millrace::rabbitmq::detail {

class session; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final

/// Who a channel belongs to. Called on the I/O thread. A false answer means that the peer broke the protocol.
class channel_user {
 public:
  /// channel.open-ok came.
  [[nodiscard]] virtual bool on_open(session& s) = 0;
  [[nodiscard]] virtual bool on_method(session& s, method what, reader& args) = 0;
  [[nodiscard]] virtual bool on_header(session& s, std::string_view payload) = 0;
  [[nodiscard]] virtual bool on_body(session& s, std::string_view payload) = 0;
  /// The channel is gone: the server closed it (`code`), or the connection is lost (0).
  virtual void on_gone(session& s, std::uint16_t code, std::string_view text) noexcept = 0;

 protected:
  ~channel_user() = default;
};

} // namespace millrace::rabbitmq::detail
