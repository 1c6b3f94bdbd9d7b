#include "protocol/content.hpp"

#include <gtest/gtest.h>
#include <string>

namespace millrace::rabbitmq::detail {
namespace {

// libstdc++ 12 hands resize_and_overwrite the grown capacity: whatever room the buffer has, a message ends where its
// frames end.
TEST(rabbitmq_content, frames_are_as_long_as_they_say_in_a_buffer_of_any_capacity) {
  message_properties properties;
  for (std::size_t room = 0; room < 200; ++room) {
    std::string out;
    out.reserve(room);
    append_publish(out, 1, "", "t.round.10207654163999337672", false, properties, {}, 131'072);
    EXPECT_EQ(static_cast<unsigned char>(out.back()), 0xCE) << room;
    EXPECT_EQ(out.size(), 8U + 9U + 28U + 8U + 15U) << room;
  }
}

} // namespace
} // namespace millrace::rabbitmq::detail
