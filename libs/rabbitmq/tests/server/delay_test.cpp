// What a delayed retry risks at the server.
#include "server/live_server.hpp"
#include "server/tcp_gate.hpp"

#include <millrace/context.hpp>

#include <gtest/gtest.h>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

queue waiting(const std::string& name) {
  return queue(name)
      .argument("x-expires", 60'000)
      .delay(delay::waiting_queue(name + ".w"))
      .with_topology(topology::declare);
}

/// Scenario 24: expiry is acted on at the head of a waiting queue, so a short delay waits for the long one before it.
TEST(rabbitmq_delays, a_short_delay_waits_behind_a_long_one) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("mixed");
  const auto open = c.open(waiting(name), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "long") && c.send(*port, name, "short"));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(settle(to.next(), settlement_kind::retry_after, 400ms));
  EXPECT_TRUE(settle(to.next(), settlement_kind::retry_after, 1ms));
  for (const char* text : {"long", "short"}) {
    incoming* m = to.next();
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(as_text(m->payload()), text);
    EXPECT_GE(std::chrono::steady_clock::now() - before, 390ms);
    EXPECT_TRUE(settle(m));
  }
}

/// Scenario 25: the client dies between the copy and the acknowledgement: both come, the original redelivered and the
/// copy with its count. A duplicate, never a loss.
TEST(rabbitmq_delays, a_crash_between_the_copy_and_the_acknowledgement_duplicates) {
  tcp_gate gate(live_server::shared().port());
  client c(broker("amqp://127.0.0.1:" + std::to_string(gate.port())).backoff(20ms, 200ms).heartbeat(60s));
  waiting_sink to;
  const std::string name = fresh_name("crash");
  const auto open = c.open(waiting(name).prefetch(1), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "x"));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  gate.strand_after(3);                                      // the copy is basic.publish, its header and its body
  EXPECT_TRUE(settle(m, settlement_kind::retry_after, 1ms)); // handed over
  incoming* copy = to.next();
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->headers().get(retry_count_header), "1");
  EXPECT_TRUE(settle(copy));
  gate.bury();
  incoming* original = to.next();
  ASSERT_NE(original, nullptr);
  EXPECT_FALSE(original->headers().get(retry_count_header));
  EXPECT_TRUE(*static_cast<const bool*>(original->field(redelivered)));
  EXPECT_TRUE(settle(original));
}

/// Scenario 23: a waiting queue that is deleted after the start swallows the copy, and the original is acknowledged:
/// lost, as the guide says.
TEST(rabbitmq_delays, a_waiting_queue_that_was_deleted_loses_the_message) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("swallowed");
  const auto open = c.open(waiting(name).prefetch(1), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "lost") && c.send(*port, name, "next"));
  live_server::shared().delete_queue(name + ".w");
  EXPECT_TRUE(settle(to.next(), settlement_kind::retry_after, 1ms));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), "next");
  EXPECT_TRUE(settle(m));
  EXPECT_EQ(to.next(100ms), nullptr);
  EXPECT_EQ(to.last_told(), "");
}

} // namespace
} // namespace millrace::rabbitmq::testing
