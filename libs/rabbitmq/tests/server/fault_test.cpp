#include "server/live_server.hpp"
#include "server/tcp_gate.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

broker through(const tcp_gate& gate) {
  return broker("amqp://127.0.0.1:" + std::to_string(gate.port()))
      .backoff(20ms, 200ms)
      .publish_timeout(20s)
      .heartbeat(1s);
}

/// A queue that outlives a connection, and goes by itself.
queue lasting(const std::string& name) {
  return queue(name).argument("x-expires", 60000).with_topology(topology::declare);
}

/// Acknowledges what comes, on a thread of its own, until `n` different bodies came.
class collector {
 public:
  collector(waiting_sink& from, std::size_t n)
      : thread_([this, &from, n] {
          while (seen_.size() < n) {
            incoming* m = from.next(30s);
            if (m == nullptr) return;
            seen_.emplace(as_text(m->payload()));
            (void)settle(m); // after a cut: an error, and the message comes again
          }
        }) {}
  const std::set<std::string>& wait() {
    thread_.join();
    return seen_;
  }

 private:
  std::set<std::string> seen_;
  std::thread thread_;
};

/// The connection is cut again and again under load: every confirmed message arrives, the subscription comes back by
/// itself.
TEST(rabbitmq_faults, what_was_confirmed_arrives_though_the_connection_is_cut_under_load) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("cut");
  waiting_sink to;
  client c(through(gate));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  const auto open = c.open(lasting(name).prefetch(50), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  constexpr int messages = 600;
  collector collected(to, messages);
  int refused = 0;
  for (int i = 0; i < messages; ++i) {
    if (i % 150 == 75) gate.cut();
    while (!c.send(*port, name, std::to_string(i)))
      ++refused; // in flight at the cut: sent again
  }
  EXPECT_EQ(collected.wait().size(), static_cast<std::size_t>(messages));
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_TRUE(to.told("resumed"));
  EXPECT_LT(refused, 50);
}

/// Scenario 14: nothing passes any more, and nobody says so: found by the heartbeat.
TEST(rabbitmq_faults, a_silent_network_is_found_by_the_heartbeat_and_survived) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("silent");
  waiting_sink to;
  client c(through(gate).connect_timeout(1s));
  ASSERT_TRUE(c.connected());
  const auto open = c.open(lasting(name), to);
  ASSERT_TRUE(open) << open.error().message();
  gate.hold();
  EXPECT_TRUE(to.told("interrupted", 10s));
  gate.release();
  EXPECT_TRUE(to.told("resumed"));
  const auto port = c.pair(confirms());
  EXPECT_TRUE(c.send(*port, name, "x"));
  EXPECT_TRUE(settle(to.next()));
}

/// Scenario 16: the shutdown of a dead connection ends within its bound.
TEST(rabbitmq_faults, R5_shutdown_against_a_dead_network_is_bounded) {
  tcp_gate gate(live_server::shared().port());
  client c(through(gate).close_timeout(300ms));
  ASSERT_TRUE(c.connected());
  gate.hold();
  const auto before = std::chrono::steady_clock::now();
  const auto closed = c.shutdown();
  ASSERT_TRUE(closed);
  EXPECT_FALSE(closed->handshake());
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

/// Scenario 2 and 1: the server closes the connection (320); publishes fail or wait, none hangs, and the consumer
/// returns.
TEST(rabbitmq_faults, a_connection_that_the_server_forces_shut_is_restored) {
  const std::string name = fresh_name("forced");
  client c(broker(live_server::shared().url()).connection_name(name).backoff(20ms, 200ms));
  waiting_sink to;
  const auto open = c.open(lasting(name), to);
  ASSERT_TRUE(open) << open.error().message();
  const std::string listed = live_server::shared().ctl("list_connections pid client_properties");
  const std::size_t line = listed.rfind('\n', listed.find(name)) + 1;
  const std::string pid = listed.substr(line, listed.find('\t', line) - line);
  live_server::shared().ctl("close_connection '" + pid + "' 'a test'");
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_TRUE(to.told("resumed"));
  const auto port = c.pair(confirms());
  EXPECT_TRUE(c.send(*port, name, "x"));
  EXPECT_TRUE(settle(to.next()));
}

/// Scenario 17: an old delivery is not acknowledged on the new channel; it comes again.
TEST(rabbitmq_faults, R6_a_delivery_of_a_lost_connection_answers_closed_and_comes_again) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("stale");
  waiting_sink to;
  client c(through(gate));
  const auto open = c.open(lasting(name).prefetch(1), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "x"));
  incoming* old = to.next();
  ASSERT_NE(old, nullptr);
  gate.cut();
  EXPECT_TRUE(to.told("resumed"));
  EXPECT_EQ(old->settle({}).error(), rabbitmq::errc::closed);
  old->release();
  incoming* again = to.next();
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(settle(again));
}

} // namespace
} // namespace millrace::rabbitmq::testing
