#pragma once

#include "protocol/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail {

enum class frame_type : std::uint8_t { method = 1, header = 2, body = 3, heartbeat = 8 };

inline constexpr std::size_t frame_overhead = 8; ///< type, channel, size and end mark
inline constexpr std::uint8_t frame_end = 0xCE;
inline constexpr std::uint32_t largest_frame = 131'072;       ///< what we accept and propose, overhead included
inline constexpr std::size_t read_room = 2UL * largest_frame; ///< for what is read at once
inline constexpr std::string_view protocol_header{"AMQP\0\0\x09\x01", 8};

struct frame {
  frame_type type = frame_type::heartbeat;
  std::uint16_t channel = 0;
  std::string_view payload; ///< of the input
};

struct frame_read {
  enum class state : std::uint8_t { complete, incomplete, malformed };
  state how = state::incomplete;
  frame what;
  std::size_t size = 0; ///< bytes that the frame took
  const char* why = ""; ///< of malformed input
};

/// The first frame of `input`. Copies nothing.
[[nodiscard]] frame_read read_frame(std::string_view input) noexcept;

/// Writes the head of a frame; `end` fills its size in and marks its end.
class frame_writer : public writer {
 public:
  frame_writer(std::string& out, frame_type type, std::uint16_t channel) : writer(out) {
    u8(static_cast<std::uint8_t>(type));
    u16(channel);
    size_at_ = begin_length();
  }
  void end() {
    end_length(size_at_);
    u8(frame_end);
  }

 private:
  std::size_t size_at_;
};

void append_heartbeat(std::string& out);
/// Writes `channel` into every frame of `frames`, which are ours and whole.
void address_frames(std::string& frames, std::uint16_t channel) noexcept;

} // namespace millrace::rabbitmq::detail
