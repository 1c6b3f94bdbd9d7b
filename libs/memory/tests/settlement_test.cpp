// core 2.2, 2.34: what a settlement makes of a message, and in which order messages come.
#include "fixture.hpp"

using namespace memory_test;

struct settlement_on_memory : service_on_memory {
  texts handled;
  /// Handles every message with `first` at its first delivery, then acknowledges.
  void handle_with(std::function<outcome()> first, memory::topic source = memory::topic("orders")) {
    on.subscribe(std::move(source), [this, first](bytes_view payload, context& ctx) {
      handled.push_back(std::string(as_text(payload)) + std::to_string(ctx.attempt()));
      return ctx.attempt() == 1 ? first() : ack();
    });
    start();
  }
};

TEST_F(settlement_on_memory, ack_ends_a_message) {
  handle_with(ack);
  publish("orders", "a");
  advance(1h);
  EXPECT_EQ(handled, texts{"a1"});
}
TEST_F(settlement_on_memory, drop_ends_a_message) {
  handle_with(drop);
  publish("orders", "a");
  advance(1h);
  EXPECT_EQ(handled, texts{"a1"});
}
TEST_F(settlement_on_memory, retry_delivers_again_at_once_and_counts) {
  handle_with(retry);
  publish("orders", "a");
  EXPECT_EQ(handled, (texts{"a1", "a2"}));
}
TEST_F(settlement_on_memory, a_retried_message_goes_to_the_back) {
  handle_with(retry, memory::topic("orders").window(1));
  for (const char* payload : {"a", "b"})
    ASSERT_TRUE(enqueue("orders", payload));
  react();
  EXPECT_EQ(handled, (texts{"a1", "b1", "a2", "b2"}));
}
// core 3.24 and conformance "retry": neither early nor late.
TEST_F(settlement_on_memory, a_native_delay_is_neither_early_nor_late) {
  handle_with([] { return retry_after(1500ms); });
  publish("orders", "a");
  advance(1500ms - 1ns);
  EXPECT_EQ(handled, texts{"a1"});
  advance(1ns);
  EXPECT_EQ(handled, (texts{"a1", "a2"}));
  advance(1h);
  EXPECT_EQ(handled.size(), 2U);
}
TEST_F(settlement_on_memory, a_zero_delay_is_an_immediate_retry) {
  handle_with([] { return retry_after(0s); });
  publish("orders", "a");
  EXPECT_EQ(handled, (texts{"a1", "a2"}));
}
TEST_F(settlement_on_memory, other_messages_go_on_while_one_is_delayed) {
  handle_with([] { return retry_after(10s); });
  publish("orders", "a");
  publish("orders", "b");
  EXPECT_EQ(handled, (texts{"a1", "b1"}));
  advance(10s);
  EXPECT_EQ(handled, (texts{"a1", "b1", "a2", "b2"}));
}
TEST_F(settlement_on_memory, messages_come_in_the_order_of_their_publishes) {
  handle_with(ack);
  texts expected;
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(enqueue("orders", std::to_string(i) + "/"));
    expected.push_back(std::to_string(i) + "/1");
  }
  react();
  EXPECT_EQ(handled, expected);
}
// core 3.3: sequential means one at a time, also while a handler is suspended.
TEST_F(settlement_on_memory, one_worker_keeps_the_order_under_suspended_handlers) {
  on.subscribe("orders", [this](bytes_view payload, context& ctx) -> task<> {
    const std::string text(as_text(payload));
    handled.push_back("begin " + text);
    const duration pause = text == "slow" ? 5s : 1s;
    co_await ctx.sleep_for(pause);
    handled.push_back("end " + text);
  });
  start();
  ASSERT_TRUE(enqueue("orders", "slow"));
  ASSERT_TRUE(enqueue("orders", "fast"));
  advance(10s);
  EXPECT_EQ(handled, (texts{"begin slow", "end slow", "begin fast", "end fast"}));
}

TEST_F(settlement_on_memory, the_position_in_the_topic_is_a_field) {
  std::vector<std::uint64_t> positions;
  on.subscribe("orders", [&](bytes_view, context& ctx) { positions.push_back(*ctx.field(memory::sequence)); });
  start();
  publish("orders", "a");
  publish("orders", "b");
  EXPECT_EQ(positions, (std::vector<std::uint64_t>{1, 2}));
}

// core 2.34: each subscription settles its own delivery of a message.
TEST_F(settlement_on_memory, a_retry_is_for_the_subscription_that_asked) {
  texts other;
  collect(memory::topic("orders"), other).named("other");
  handle_with(retry);
  publish("orders", "a");
  EXPECT_EQ(handled, (texts{"a1", "a2"}));
  EXPECT_EQ(other, texts{"a"});
}

struct groups : service_on_memory {
  texts a, b, alone, elsewhere;
  groups() {
    collect(memory::topic("orders").group("workers"), a).named("a");
    collect(memory::topic("orders").group("workers"), b).named("b");
    collect(memory::topic("orders"), alone).named("alone");
    collect(memory::topic("orders").group("audit"), elsewhere).named("audit");
    start();
  }
};
TEST_F(groups, members_share_and_everybody_else_gets_all) {
  for (int i = 0; i < 10; ++i)
    publish("orders", std::to_string(i));
  EXPECT_EQ(a.size() + b.size(), 10U);
  EXPECT_FALSE(a.empty());
  EXPECT_FALSE(b.empty());
  EXPECT_EQ(alone.size(), 10U);
  EXPECT_EQ(elsewhere.size(), 10U);
}
TEST_F(groups, a_topic_is_its_exact_name) {
  publish("orders.eu", "x");
  publish("Orders", "x");
  EXPECT_TRUE(a.empty() && b.empty() && alone.empty());
}
