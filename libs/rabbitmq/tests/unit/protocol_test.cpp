#include "protocol/content.hpp"
#include "protocol/table.hpp"

#include <chrono>
#include <gtest/gtest.h>

namespace millrace::rabbitmq::detail {
namespace {

std::string published(std::string_view key, const header_map& headers, std::string_view body,
                      std::uint32_t frame_max = 4096) {
  message_properties properties;
  EXPECT_TRUE(properties.take(headers));
  properties.priority = 3;
  properties.delivery_mode = 2;
  std::string out;
  append_publish(out, 7, "events", key, true, properties, as_bytes(body), frame_max);
  return out;
}

std::vector<frame> frames_of(std::string_view bytes) {
  std::vector<frame> all;
  while (!bytes.empty()) {
    const frame_read read = read_frame(bytes);
    EXPECT_EQ(read.how, frame_read::state::complete);
    if (read.how != frame_read::state::complete) break;
    all.push_back(read.what);
    bytes.remove_prefix(read.size);
  }
  return all;
}

TEST(rabbitmq_protocol, a_publish_is_a_method_a_header_and_body_frames_of_the_agreed_size) {
  header_map headers;
  headers.set("content-type", "text/plain");
  headers.set("x-tenant", "a");
  const std::string body(10'000, 'b');
  const std::string bytes = published("order.new", headers, body);
  const auto frames = frames_of(bytes);
  ASSERT_EQ(frames.size(), 5U);
  for (const frame& f : frames)
    EXPECT_EQ(f.channel, 7U);
  reader method_in(frames[0].payload);
  EXPECT_EQ(read_method(method_in), method::basic_publish);
  EXPECT_EQ(method_in.u16(), 0U);
  EXPECT_EQ(method_in.short_string(), "events");
  EXPECT_EQ(method_in.short_string(), "order.new");
  EXPECT_EQ(method_in.u8(), 1U);
  reader header_in(frames[1].payload);
  const content_header header(header_in);
  EXPECT_EQ(header.body_size, body.size());
  header_map back;
  add_headers(back, received_properties(header.properties));
  EXPECT_EQ(back.get("content-type"), "text/plain");
  EXPECT_EQ(back.get("x-tenant"), "a");
  EXPECT_EQ(back.get("amqp-priority"), "3");
  std::string joined;
  for (std::size_t i = 2; i < frames.size(); ++i) {
    EXPECT_LE(frames[i].payload.size() + frame_overhead, 4096U);
    joined += frames[i].payload;
  }
  EXPECT_TRUE(joined == body);
}

TEST(rabbitmq_protocol, a_frame_that_is_not_whole_waits_and_a_broken_one_is_told) {
  const std::string whole = published("k", {}, "hello");
  for (std::size_t n = 0; n < 12; ++n) {
    EXPECT_EQ(read_frame(std::string_view(whole).substr(0, n)).how, frame_read::state::incomplete);
  }
  std::string broken = whole;
  broken[7 + 4 + 2 + 7 + 2 + 1] = 'x'; // where the end mark was
  EXPECT_EQ(read_frame(broken).how, frame_read::state::malformed);
  EXPECT_EQ(read_frame("AMQP").how, frame_read::state::malformed);
}

TEST(rabbitmq_protocol, frames_are_addressed_when_their_channel_is_known) {
  std::string frames = published("k", {}, std::string(9000, 'b'));
  address_frames(frames, 513);
  for (const frame& f : frames_of(frames))
    EXPECT_EQ(f.channel, 513U);
}

/// Scenario 37: other producers' tables, of every type and nested, are read over.
TEST(rabbitmq_protocol, tables_of_every_type_are_read) {
  std::string bytes;
  writer out(bytes);
  const auto named = [&](char type) {
    out.short_string(std::string("f") + type);
    out.u8(static_cast<std::uint8_t>(type));
  };
  named('t'), out.u8(1);
  named('b'), out.u8(0xff);
  named('s'), out.u16(0xfffe);
  named('I'), out.u32(5);
  named('l'), out.u64(6);
  named('d'), out.u64(0);
  named('D'), out.u8(0), out.u32(0);
  named('T'), out.u64(1);
  named('V');
  named('x'), out.long_string("raw");
  named('F');
  const std::size_t nested = out.begin_length();
  out.short_string("inner"), out.u8('A');
  const std::size_t list = out.begin_length();
  out.u8('I'), out.u32(1);
  out.end_length(list);
  out.end_length(nested);
  named('S'), out.long_string("last");
  int count = 0;
  EXPECT_TRUE(for_each_field(bytes, [&](std::string_view, const field_value&) { return ++count, true; }));
  EXPECT_EQ(count, 12);
  EXPECT_EQ(find_field(bytes, "fb")->integer, -1);
  EXPECT_EQ(find_field(bytes, "fs")->integer, -2);
  EXPECT_EQ(find_field(bytes, "fS")->text, "last");
  EXPECT_EQ(find_field(bytes, "fx")->text, "raw");
}

TEST(rabbitmq_protocol, a_table_nested_without_end_is_refused) {
  std::string bytes;
  for (int depth = 0; depth < 100; ++depth) {
    std::string outer;
    writer out(outer);
    out.short_string("x");
    out.u8('F');
    out.long_string(bytes);
    bytes = outer;
  }
  EXPECT_FALSE(for_each_field(bytes, [](std::string_view, const field_value&) { return true; }));
}

TEST(rabbitmq_protocol, arguments_keep_their_types) {
  arguments args;
  args.set("a", 5)
      .set("b", true)
      .set("c", "text")
      .set("d", 1.5)
      .set("a", 6)
      .set("e", std::chrono::sys_seconds(std::chrono::seconds(7)));
  std::string bytes;
  writer out(bytes);
  append_table(out, args);
  reader in(bytes);
  const std::string_view table = in.table();
  EXPECT_EQ(find_field(table, "a")->integer, 6);
  EXPECT_EQ(find_field(table, "b")->what, field_value::kind::boolean);
  EXPECT_EQ(find_field(table, "c")->text, "text");
  EXPECT_EQ(find_field(table, "d")->real, 1.5);
  EXPECT_EQ(find_field(table, "e")->tag, 'T');
  EXPECT_EQ(find_field(table, "e")->integer, 7);
}

TEST(rabbitmq_protocol, the_delivery_count_comes_in_any_width) {
  for (const char type : {'b', 's', 'I', 'l'}) {
    std::string bytes;
    writer out(bytes);
    out.u16(1 << 13);
    const std::size_t at = out.begin_length();
    out.short_string("x-delivery-count");
    out.u8(static_cast<std::uint8_t>(type));
    if (type == 'b') out.u8(2);
    if (type == 's') out.u16(2);
    if (type == 'I') out.u32(2);
    if (type == 'l') out.u64(2);
    out.end_length(at);
    EXPECT_EQ(delivery_count_of(bytes), 2U) << type;
  }
  EXPECT_EQ(delivery_count_of({}), 0U);
}

/// Scenario 27.
TEST(rabbitmq_protocol, an_expiration_is_whole_milliseconds_that_the_server_takes) {
  using namespace std::chrono_literals;
  char room[16];
  EXPECT_EQ(milliseconds_text(0s, room), "0");
  EXPECT_EQ(milliseconds_text(10us, room), "1");
  EXPECT_EQ(milliseconds_text(1500us, room), "1");
  EXPECT_EQ(milliseconds_text(3s, room), "3000");
  EXPECT_EQ(milliseconds_text(-1s, room), "");
  EXPECT_EQ(milliseconds_text(std::chrono::hours(24 * 50), room), "");
}

/// Every prefix and many mutations of real frames are read to their end or refused.
TEST(rabbitmq_protocol, mutated_properties_never_crash) {
  header_map headers;
  headers.set("content-type", "text/plain");
  headers.set("x-a", "1");
  const std::string frames = published("k", headers, "body");
  const std::string properties(frames_of(frames)[1].payload.substr(12));
  std::uint32_t random = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = properties;
    for (int i = 0; i < 3; ++i) {
      random = random * 1664525 + 1013904223;
      bytes[(random >> 8) % bytes.size()] = static_cast<char>(random >> 24);
    }
    bytes.resize((random >> 4) % (bytes.size() + 1));
    header_map back;
    add_headers(back, received_properties(bytes));
    (void)delivery_count_of(bytes);
  }
}

} // namespace
} // namespace millrace::rabbitmq::detail
