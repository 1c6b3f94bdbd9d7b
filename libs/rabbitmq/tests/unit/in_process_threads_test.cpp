// The in-process server on real threads: connections of one runtime, publishers of any thread.
#include "wire/rig.hpp"

#include <millrace/pool_runtime.hpp>
#include <millrace/receiver.hpp>

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace millrace::rabbitmq::testing {
namespace {

constexpr int messages = 300;

result<connected_broker> connect(runtime& rt) {
  return sync_wait(broker("amqp://localhost").prefetch(20).declare_topology(true).connect_in_process(rt));
}

/// Confirmed, one after the other; answers how many were refused.
int publish_all(runtime& rt, connected_broker& by, const std::string& prefix) {
  const auto port = *by.pair(confirms());
  int refused = 0;
  for (int i = 0; i < messages; ++i) {
    if (!sent_message(*port, rt, "orders", prefix + std::to_string(i)).answer()) ++refused;
  }
  return refused;
}

TEST(rabbitmq_in_process_threads, what_several_connections_publish_arrives_once) {
  pool_runtime rt(2);
  auto reading = connect(rt);
  auto first = connect(rt);
  auto second = connect(rt);
  ASSERT_TRUE(reading && first && second);
  auto in = sync_wait(open_receiver(rt, *reading, queue("orders")));
  ASSERT_TRUE(in);
  int refused = 0;
  std::thread other([&] { refused = publish_all(rt, *first, "a"); });
  EXPECT_EQ(publish_all(rt, *second, "b"), 0);
  std::set<std::string> seen;
  for (int i = 0; i < 2 * messages; ++i) {
    auto arrived = sync_wait((*in)->next(std::chrono::seconds(20)));
    ASSERT_TRUE(arrived);
    EXPECT_TRUE(seen.insert(std::string(arrived->text())).second) << arrived->text();
    EXPECT_TRUE(std::move(*arrived).ack());
  }
  other.join();
  EXPECT_EQ(refused, 0);
  for (auto* c : {&*reading, &*first, &*second})
    EXPECT_TRUE(sync_wait(std::move(*c).shutdown()));
}

/// R5, L3: a shutdown in the middle of traffic ends in order, and publishers answer closed.
TEST(rabbitmq_in_process_threads, R5_L3_a_shutdown_under_traffic_is_a_handshake) {
  pool_runtime rt(2);
  auto live = connect(rt);
  ASSERT_TRUE(live);
  const auto port = *live->pair(publish());
  std::thread busy([&] {
    for (;;) {
      const auto sent = sent_message(*port, rt, "nowhere", "x").answer();
      if (sent) continue;
      EXPECT_EQ(sent.error(), millrace::errc::closed);
      return;
    }
  });
  const auto closed = sync_wait(std::move(*live).shutdown());
  busy.join();
  ASSERT_TRUE(closed);
  EXPECT_TRUE(closed->handshake());
}

} // namespace
} // namespace millrace::rabbitmq::testing
