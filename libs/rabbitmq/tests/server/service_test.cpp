// Through whole services, as users write them.
#include "server/live_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <span>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))

queue passing(const std::string& name) {
  return queue(name).argument("x-expires", 60'000).with_topology(topology::declare);
}

void publish_orders(client& c, const std::string& to, int n) {
  const auto confirming = c.pair(confirms());
  for (int i = 1; i <= n; ++i)
    ASSERT_TRUE(c.send(*confirming, to, "{\"id\":" + std::to_string(i) + "}"));
}

/// Scenario 35: the window holds two and the batch asks for ten: it closes by its wait.
TEST(rabbitmq_service, a_prefetch_below_the_batch_size_ends_batches_by_their_wait) {
  const std::string name = fresh_name("batches");
  std::atomic<std::size_t> largest = 0;
  std::latch all(5);
  service app{{.title = "batches"}};
  app.with_broker(broker(live_server::shared().url()))
      .subscribe_batches(passing(name).prefetch(2).batch_wait(20ms), 10, [&](std::span<const order> orders) {
        largest = std::max(largest.load(), orders.size());
        all.count_down(static_cast<std::ptrdiff_t>(orders.size()));
      });
  auto running = app.start();
  ASSERT_TRUE(running) << running.error().message();
  client c;
  publish_orders(c, name, 5);
  all.wait();
  EXPECT_LE(largest.load(), 2U);
  EXPECT_TRUE(running->shutdown());
}

/// Scenario 21: nobody counts at a classic queue; the service does, on its copies, and the loop ends.
TEST(rabbitmq_service, a_retry_loop_on_a_classic_queue_ends_at_the_cap) {
  const std::string name = fresh_name("loop");
  std::atomic<int> attempts = 0;
  std::latch buried(1);
  service app{{.title = "loop"}};
  auto on = app.with_broker(broker(live_server::shared().url()));
  on.subscribe(passing(name),
               [&](const order&) {
                 ++attempts;
                 return retry();
               })
      .max_attempts(3)
      .dead_letter(name + ".dead");
  on.subscribe(passing(name + ".dead"), [&](const order& o) {
    EXPECT_EQ(o.id, 1);
    buried.count_down();
  });
  auto running = app.start();
  ASSERT_TRUE(running) << running.error().message();
  client c;
  publish_orders(c, name, 1);
  buried.wait();
  EXPECT_EQ(attempts.load(), 3);
  EXPECT_TRUE(running->shutdown());
}

/// A router's prefix moves queue, bindings' exchanges, delay target and dead letters together.
TEST(rabbitmq_service, a_prefix_moves_every_name_of_a_registration) {
  const std::string eu = fresh_name("eu") + ".";
  std::latch buried(1);
  std::atomic<int> attempts = 0;
  service app{{.title = "routed"}};
  router<broker> routes(eu);
  routes
      .subscribe(passing("orders").bind(exchange_spec::fanout("events").auto_delete()).delay(delay::waiting_queue()),
                 [&](const order&) {
                   ++attempts;
                   return retry_after(10ms);
                 })
      .max_attempts(2)
      .dead_letter("dead");
  routes.subscribe(passing("dead"), [&](const order&) { buried.count_down(); });
  app.with_broker(broker(live_server::shared().url())).include(std::move(routes));
  auto running = app.start();
  ASSERT_TRUE(running) << running.error().message();
  client c;
  const auto confirming = c.pair(confirms().exchange(eu + "events"));
  ASSERT_TRUE(c.send(*confirming, "any", "{\"id\":1}"));
  buried.wait();
  EXPECT_EQ(attempts.load(), 2);
  waiting_sink unused;
  EXPECT_TRUE(c.open(queue(eu + "orders.retry"), unused)); // the waiting queue has the prefix too
  EXPECT_TRUE(running->shutdown());
}

/// Plugins: 40 keys over two queues of weight 1. Each gets some, and together they get all.
TEST(rabbitmq_service, a_consistent_hash_exchange_shares_keys_out) {
  client c;
  const std::string name = fresh_name("hash");
  const auto exchange = exchange_spec::consistent_hash(name).durable(false).auto_delete();
  waiting_sink sinks[2];
  std::vector<open_result> open;
  for (int i = 0; i < 2; ++i) {
    open.push_back(c.open(client::temporary(name + std::to_string(i)).bind(exchange, "1"), sinks[i]));
    ASSERT_TRUE(open.back()) << open.back().error().message();
  }
  const auto confirming = c.pair(confirms().exchange(name));
  constexpr int keys = 40;
  for (int i = 0; i < keys; ++i)
    ASSERT_TRUE(c.send(*confirming, "key-" + std::to_string(i), std::to_string(i)));
  int got[2] = {0, 0};
  for (int turn = 0; turn < 4000 && got[0] + got[1] < keys; ++turn) {
    incoming* const m = sinks[turn % 2].next(5ms);
    if (m == nullptr) continue;
    ++got[turn % 2];
    EXPECT_TRUE(settle(m));
  }
  EXPECT_EQ(got[0] + got[1], keys);
  EXPECT_GT(got[0], 0);
  EXPECT_GT(got[1], 0);
}

} // namespace
} // namespace millrace::rabbitmq::testing
