// What a hostile peer may send: no crash, no read outside of the bytes, whatever is cut or changed.
#include "protocol/message_in.hpp"
#include "protocol/message_out.hpp"

#include <gtest/gtest.h>

#include <random>

namespace millrace::amqp::detail {
namespace {

std::string whole_message() {
  header_map headers;
  headers.set("content-type", "text/plain");
  headers.set("correlation-id", "c");
  headers.set("partition-key", "k");
  headers.set("x-a", "1");
  headers.set("x-b", std::string(300, 'b'));
  message_options options;
  options.priority = 3;
  options.ttl = std::chrono::seconds(1);
  outbound_message out;
  out.headers = &headers;
  out.options = &options;
  out.payload = as_bytes("payload");
  std::string bytes;
  EXPECT_TRUE(append_message(bytes, out));
  return bytes;
}

/// Reads all that can be asked of a message, from a buffer of exactly its size, so that a sanitizer sees each step too
/// far.
void read_everything(std::string bytes) {
  bytes.shrink_to_fit();
  const received in = read_message(bytes);
  header_map headers;
  add_headers(headers, in);
  std::string correlation;
  (void)correlation_of(in, correlation);
  (void)copies_of(in);
  const received_properties properties(in);
  const auto inside = [&](std::string_view view) {
    return view.empty() || (view.data() >= bytes.data() && view.data() + view.size() <= bytes.data() + bytes.size());
  };
  EXPECT_TRUE(inside(in.payload));
  EXPECT_TRUE(inside(properties.reply_to));
  EXPECT_TRUE(inside(properties.group_id));
}

TEST(amqp_hostile, every_cut_of_a_message) {
  const std::string whole = whole_message();
  for (std::size_t n = 0; n <= whole.size(); ++n)
    read_everything(whole.substr(0, n));
}

TEST(amqp_hostile, every_byte_changed_to_every_value) {
  const std::string whole = whole_message();
  for (std::size_t at = 0; at < std::min<std::size_t>(whole.size(), 120); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      read_everything(std::move(changed));
    }
  }
}

TEST(amqp_hostile, random_bytes_and_random_changes) {
  std::minstd_rand random(7);
  const std::string whole = whole_message();
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = round % 2 == 0 ? whole : std::string(random() % 64, '\0');
    const std::size_t changes = round % 2 == 0 ? 1 + random() % 8 : bytes.size();
    for (std::size_t i = 0; i < changes && !bytes.empty(); ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    read_everything(std::move(bytes));
  }
}

/// Sizes that promise more than there is, and descriptors of descriptors.
TEST(amqp_hostile, promises_that_are_not_kept) {
  read_everything(std::string{0, 0x53, 0x75, char(0xb0), char(0xff), char(0xff), char(0xff), char(0xff)});
  read_everything(std::string{0, 0x53, 0x74, char(0xd1), 0, 0, 0, 8, char(0xff), char(0xff), char(0xff), char(0xff)});
  read_everything(std::string(100'000, '\0'));
  std::string nested;
  for (int i = 0; i < 50'000; ++i)
    nested += std::string{0, 0x53, 0x77};
  read_everything(nested);
}

} // namespace
} // namespace millrace::amqp::detail
