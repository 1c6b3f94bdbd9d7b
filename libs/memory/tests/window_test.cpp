// core 3.36 and design, "Back-pressure": how many messages are out, and that none waits while there is room.
#include "fixture.hpp"

using namespace memory_test;

namespace {

/// A sink that takes and keeps, as a slow subscriber does.
class keeping_sink final : public sink {
 public:
  ~keeping_sink() { held.release_all(); }
  void deliver(incoming_batch batch, deliver_from) noexcept override {
    held.append(std::move(batch));
    most = std::max(most, held.size());
    if (on_deliver) on_deliver();
  }
  void interrupted(error) noexcept override {}
  void resumed() noexcept override {}
  void ended(error) noexcept override {}
  void dropped(std::uint64_t) noexcept override {}

  void end_one(settlement_kind kind = settlement_kind::ack) {
    incoming* m = held.pop();
    ASSERT_TRUE(m);
    ASSERT_TRUE(m->settle({kind, {}}));
    m->release();
  }
  incoming_batch held;
  std::size_t most = 0;
  std::function<void()> on_deliver;
};

struct window : bare_broker {
  std::unique_ptr<subscription_port> open(keeping_sink& to, memory::topic source, unsigned workers = 1) {
    open_options options;
    options.workers = workers;
    auto opened = rt.drive(connected->open(source, to, options));
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }
};

} // namespace

TEST_F(window, is_never_exceeded) {
  connect();
  keeping_sink slow;
  const auto sub = open(slow, memory::topic("orders").window(3));
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(publish("orders", std::to_string(i)));
  EXPECT_EQ(slow.held.size(), 3U);
  for (int i = 0; i < 20; ++i)
    slow.end_one();
  EXPECT_EQ(slow.most, 3U);
}

TEST_F(window, default_is_64_or_twice_the_workers) {
  connect();
  keeping_sink few, many;
  const auto a = open(few, memory::topic("orders"));
  const auto b = open(many, memory::topic("orders"), 50);
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(publish("orders", "x"));
  EXPECT_EQ(few.held.size(), 64U);
  EXPECT_EQ(many.held.size(), 100U);
}

// A retry is delivered at once, whatever else is still being handled.
TEST_F(window, a_retry_does_not_wait_for_the_rest_of_the_window) {
  connect();
  keeping_sink busy;
  const auto sub = open(busy, memory::topic("orders").window(4), 4);
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(publish("orders", std::to_string(i)));
  busy.end_one(settlement_kind::retry);
  EXPECT_EQ(busy.held.size(), 4U);
}
TEST_F(window, a_retry_goes_to_an_idle_member_of_the_group) {
  connect();
  keeping_sink busy, idle;
  const auto first = open(busy, memory::topic("orders").group("g").window(4));
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(publish("orders", std::to_string(i)));
  const auto second = open(idle, memory::topic("orders").group("g").window(4));
  busy.end_one(settlement_kind::retry);
  EXPECT_EQ(busy.held.size() + idle.held.size(), 4U);
}

// A window as small as the workers must not leave workers without messages.
TEST_F(window, a_small_window_keeps_every_worker_busy) {
  connect();
  keeping_sink busy;
  const auto sub = open(busy, memory::topic("orders").window(4), 4);
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(publish("orders", std::to_string(i)));
  busy.end_one();
  EXPECT_EQ(busy.held.size(), 4U);
}

// While the second of three subscriptions takes its message the first one goes: the third gets its message all the
// same.
TEST_F(window, a_subscription_that_goes_during_a_publish_takes_no_message_from_another) {
  connect();
  keeping_sink first, second, third;
  auto going = open(first, memory::topic("orders"));
  const auto b = open(second, memory::topic("orders"));
  const auto c = open(third, memory::topic("orders"));
  second.on_deliver = [&] { going.reset(); };
  ASSERT_TRUE(publish("orders", "x"));
  EXPECT_EQ(third.held.size(), 1U);
}

TEST_F(window, what_a_leaving_group_member_holds_goes_to_the_others) {
  connect();
  keeping_sink leaving, staying;
  auto first = open(leaving, memory::topic("orders").group("g").window(2));
  ASSERT_TRUE(publish("orders", "1"));
  ASSERT_TRUE(publish("orders", "2"));
  const auto second = open(staying, memory::topic("orders").group("g").window(8));
  first.reset();
  leaving.held.release_all();
  EXPECT_EQ(staying.held.size(), 2U);
}

// core 3.36, through the service: never n + 1 in flight.
struct workers : service_on_memory {
  int running = 0;
  int most = 0;
  std::size_t handled = 0;
  registration& consume(memory::topic source) {
    return on.subscribe(std::move(source), [this](bytes_view, context& ctx) -> task<> {
      most = std::max(most, ++running);
      co_await ctx.sleep_for(1s);
      --running;
      ++handled;
    });
  }
};
TEST_F(workers, never_one_more_than_said_and_no_fewer) {
  consume(memory::topic("orders")).workers(3);
  start();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(enqueue("orders", "x"));
  react();
  EXPECT_EQ(running, 3);
  advance(10s);
  EXPECT_EQ(handled, 10U);
  EXPECT_EQ(most, 3);
}
TEST_F(workers, a_blocked_one_does_not_hold_the_others) {
  event never(rt);
  on.subscribe("orders", [&](bytes_view payload) -> task<> {
      if (as_text(payload) == "stuck") co_await never.wait();
      ++handled;
    }).workers(2);
  start();
  ASSERT_TRUE(enqueue("orders", "stuck"));
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(enqueue("orders", "x"));
  react();
  EXPECT_EQ(handled, 100U);
  never.set();
  react();
  EXPECT_EQ(handled, 101U);
}
