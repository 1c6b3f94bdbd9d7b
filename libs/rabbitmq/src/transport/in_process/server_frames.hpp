#pragma once

#include "protocol/method.hpp"
#include "transport/in_process/message.hpp"
#include "transport/in_process/refusal.hpp"

#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

/// A method frame of the server; `end` marks its end.
class server_method : public frame_writer {
 public:
  server_method(std::string& out, std::uint16_t channel, method what) : frame_writer(out, frame_type::method, channel) {
    u32(static_cast<std::uint32_t>(what));
  }
};

void append_start(std::string& out);
void append_tune(std::string& out);
void append_close(std::string& out, std::uint16_t channel, const refusal& why);
void append_declared(std::string& out, std::uint16_t channel, std::string_view queue, std::size_t ready,
                     std::size_t consumers);
void append_consuming(std::string& out, std::uint16_t channel, method what, std::string_view tag);
/// basic.ack or basic.nack of a confirming channel.
void append_confirm(std::string& out, std::uint16_t channel, std::uint64_t number, bool accepted);

struct delivered {
  std::string_view consumer_tag;
  std::uint64_t tag = 0;
  bool redelivered = false;
};
void append_deliver(std::string& out, std::uint16_t channel, const delivered& how, const message& m,
                    const property_list& properties, std::uint32_t frame_max);
/// basic.return: no queue takes it.
void append_return(std::string& out, std::uint16_t channel, const message& m, std::uint32_t frame_max);

} // namespace millrace::rabbitmq::detail::in_process
