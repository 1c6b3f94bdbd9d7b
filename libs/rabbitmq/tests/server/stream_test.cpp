// Streams: where reading starts, and what is kept.
#include "server/live_server.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

stream_queue kept(const std::string& name) {
  return stream_queue(name).max_bytes(10'000'000).max_age("1h").prefetch(10).with_topology(topology::declare);
}

/// A stream of "one" and "two", each in a chunk of its own.
void fill(client& c, const std::string& name) {
  waiting_sink unused;
  const auto made = c.open(kept(name), unused);
  ASSERT_TRUE(made) << made.error().message();
  const auto port = c.pair(confirms());
  for (const char* text : {"one", "two"})
    ASSERT_TRUE(c.send(*port, name, text));
}

/// What a reader gets before "new", which is published once it has opened.
std::string read(client& c, const stream_queue& how) {
  waiting_sink to;
  const auto open = c.open(how, to);
  if (!open) return open.error().message();
  const auto sent = c.send(*c.pair(confirms()), how.name(), "new");
  std::string all = sent ? "" : sent.error().message();
  while (incoming* m = to.next()) {
    const std::string text(as_text(m->payload()));
    (void)settle(m);
    if (text == "new") return all;
    all += text + ' ';
  }
  return all + "and not the new one";
}

TEST(rabbitmq_streams, are_read_from_where_the_subscription_says) {
  using std::chrono::system_clock;
  const auto now = std::chrono::floor<std::chrono::seconds>(system_clock::now());
  client c;
  const struct {
    const char* name;
    std::function<stream_queue(stream_queue)> how;
    const char* read;
  } cases[] = {
      {"default", [](stream_queue q) { return q; }, ""},
      {"next", [](stream_queue q) { return q.from("next"); }, ""},
      {"first", [](stream_queue q) { return q.from("first"); }, "one two "},
      {"last", [](stream_queue q) { return q.from("last"); }, "two "},
      {"offset", [](stream_queue q) { return q.from_offset(1); }, "two "},
      {"beyond", [](stream_queue q) { return q.from_offset(2); }, ""},
      {"an hour ago", [&](stream_queue q) { return q.from_time(now - 1h); }, "one two "},
      {"in an hour", [&](stream_queue q) { return q.from_time(now + 1h); }, ""},
      {"the last hour", [](stream_queue q) { return q.from("1h"); }, "one two "},
  };
  for (const auto& one : cases) {
    const std::string name = fresh_name("stream");
    fill(c, name);
    EXPECT_EQ(read(c, one.how(kept(name))), one.read) << one.name;
    live_server::shared().delete_queue(name);
  }
}

TEST(rabbitmq_streams, a_stream_is_read_from_its_first_message) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("stream");
  const auto described = stream_queue(name).from("first").prefetch(10).with_topology(topology::declare);
  {
    waiting_sink unused;
    const auto made = c.open(described, unused);
    ASSERT_TRUE(made) << made.error().message();
  }
  const auto port = c.pair(confirms());
  for (const char* text : {"one", "two"})
    ASSERT_TRUE(c.send(*port, name, text));
  const auto open = c.open(described, to);
  ASSERT_TRUE(open);
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), "one");
  EXPECT_EQ(m->settle({settlement_kind::retry, {}}).error(), millrace::errc::unsupported);
  EXPECT_TRUE(settle(m));
  EXPECT_TRUE(settle(to.next()));
}

/// Retention is an argument of the stream: what differs is refused.
TEST(rabbitmq_streams, R2_3_retention_is_declared) {
  client c;
  const std::string name = fresh_name("retention");
  fill(c, name);
  waiting_sink unused;
  EXPECT_TRUE(c.open(kept(name), unused));
  const auto other = c.open(kept(name).max_bytes(20'000'000), unused);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().server_code(), 406);
  live_server::shared().delete_queue(name);
}

} // namespace
} // namespace millrace::rabbitmq::testing
