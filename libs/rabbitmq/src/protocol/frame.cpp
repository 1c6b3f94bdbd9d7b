#include "protocol/frame.hpp"

namespace millrace::rabbitmq::detail {
namespace {

frame_read malformed(const char* why) noexcept {
  frame_read read;
  read.how = frame_read::state::malformed;
  read.why = why;
  return read;
}

} // namespace

frame_read read_frame(std::string_view input) noexcept {
  if (input.empty()) return {};
  const auto type = static_cast<std::uint8_t>(input[0]);
  if (type == 'A') return malformed("the server speaks another version of AMQP");
  if (type != 1 && type != 2 && type != 3 && type != 8) return malformed("a frame of unknown type");
  reader in(input.substr(1));
  frame_read read;
  read.what.type = static_cast<frame_type>(type);
  read.what.channel = in.u16();
  const std::uint32_t size = in.u32();
  if (!in.ok()) return {};
  if (size > largest_frame - frame_overhead) return malformed("a frame larger than agreed");
  if (in.rest().size() <= size) return {};
  read.what.payload = in.take(size);
  if (in.u8() != frame_end) return malformed("a frame without its end mark");
  read.size = size + frame_overhead;
  read.how = frame_read::state::complete;
  return read;
}

void append_heartbeat(std::string& out) { frame_writer(out, frame_type::heartbeat, 0).end(); }

void address_frames(std::string& frames, std::uint16_t channel) noexcept {
  for (std::size_t at = 0; at + frame_overhead <= frames.size();) {
    frames[at + 1] = static_cast<char>(channel >> 8);
    frames[at + 2] = static_cast<char>(channel);
    reader size(std::string_view(frames).substr(at + 3, 4));
    at += size.u32() + frame_overhead;
  }
}

} // namespace millrace::rabbitmq::detail
