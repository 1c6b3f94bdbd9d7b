// A subscription that is destroyed without `stop`, while its sink is called.
#include "fixture.hpp"

#include <atomic>
#include <future>
#include <thread>

using namespace memory_test;

namespace {

/// Holds a hand-over up until the subscription was destroyed, or 100 ms have shown that its destruction waits.
class slow_sink final : public sink {
 public:
  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override {
    while (incoming* m = batch.pop()) {
      EXPECT_TRUE(m->settle({}));
      m->release();
    }
    entered.set_value();
    overtaken = destroyed.get_future().wait_for(100ms) == std::future_status::ready;
  }
  void interrupted(error /*why*/) noexcept override {}
  void resumed() noexcept override {}
  void ended(error /*why*/) noexcept override {}
  void dropped(std::uint64_t /*count*/) noexcept override {}

  std::promise<void> entered;
  std::promise<void> destroyed;
  bool overtaken = false;
};

} // namespace

// A sink may be gone with its subscription: no call runs when the destructor returns.
TEST_F(bare_broker, destroying_a_subscription_waits_for_a_hand_over_that_runs) {
  connect();
  slow_sink to;
  open_options options;
  auto opened = rt.drive(connected->open(memory::topic("orders"), to, options));
  ASSERT_TRUE(opened);
  std::thread publishing([&] {
    publish_operation op(&rt);
    port->publish({"orders", as_bytes("x")}, op);
  });
  to.entered.get_future().wait();
  opened->reset();
  to.destroyed.set_value();
  publishing.join();
  EXPECT_FALSE(to.overtaken);
}

// Under ASan and TSan.
TEST_F(bare_broker, receivers_come_and_go_without_a_stop_while_others_publish) {
  connect();
  std::atomic<bool> over = false;
  std::thread publishing([&] {
    while (!over) {
      publish_operation op(&rt);
      port->publish({"orders", as_bytes("x")}, op);
    }
  });
  for (int i = 0; i < 300; ++i)
    receive(memory::topic("orders"));
  over = true;
  publishing.join();
}

namespace {

/// Destroys its own subscription from inside the first hand-over.
class leaving_sink final : public sink {
 public:
  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override {
    ++calls;
    batch.release_all();
    port.reset();
  }
  void interrupted(error /*why*/) noexcept override {}
  void resumed() noexcept override {}
  void ended(error /*why*/) noexcept override {}
  void dropped(std::uint64_t /*count*/) noexcept override {}

  std::unique_ptr<subscription_port> port;
  int calls = 0;
};

} // namespace

TEST_F(bare_broker, a_sink_may_destroy_its_own_subscription) {
  connect();
  leaving_sink to;
  open_options options;
  auto opened = rt.drive(connected->open(memory::topic("orders"), to, options));
  ASSERT_TRUE(opened);
  to.port = std::move(*opened);
  ASSERT_TRUE(publish("orders", "1"));
  ASSERT_TRUE(publish("orders", "2"));
  EXPECT_EQ(to.calls, 1);
  EXPECT_EQ(shutdown().subscriptions, 0U);
}
