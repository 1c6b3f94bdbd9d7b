// The lifecycle's rules for all brokers, on the embedded one; handles that outlive their connection; bounds of what it
// holds.
#include "fixture.hpp"

using namespace memory_test;

namespace {

struct memory_handles : bare_broker {};
struct memory_lifecycle : service_on_memory {};
struct memory_requests : service_on_memory {};

} // namespace

// L1: as many brokers and subscriptions as one likes, and nothing is opened.
TEST(memory_broker, L1_construction_does_no_io_and_copies_are_cheap) {
  const memory::broker a("shop");
  const memory::broker b = a;
  EXPECT_EQ(b.describe(), "shop");
  EXPECT_TRUE(memory::topic("orders").check());
  EXPECT_EQ(memory::topic("").check().error(), errc::invalid_options);
}

TEST_F(memory_lifecycle, L2_the_first_subscription_that_cannot_open_aborts_the_start_and_is_named) {
  texts into;
  collect(memory::topic("orders"), into);
  collect(memory::topic("history").from_start(), into).named("audit"); // the broker retains nothing
  const auto started = try_start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::invalid_options);
  EXPECT_TRUE(started.error().message().contains("subscription 'audit'")) << started.error().message();
  EXPECT_TRUE(started.error().message().contains("'history'")) << started.error().message();
  // What was connected is shut down: its publishers answer closed (L3, L4).
  EXPECT_EQ(enqueue("orders", "x").error(), errc::closed);
}

TEST_F(memory_lifecycle, L3_a_publisher_after_the_shutdown_answers_closed_with_its_destination) {
  texts into;
  collect(memory::topic("orders"), into);
  start();
  EXPECT_TRUE(stop());
  const auto sent = enqueue("orders", "x");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), errc::closed);
  EXPECT_TRUE(sent.error().message().contains("'orders'")) << sent.error().message();
  const auto asked = rt.drive(ask(pub, "prices", "x", 1s));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error(), errc::closed);
  EXPECT_TRUE(asked.error().message().contains("'prices'")) << asked.error().message();
  EXPECT_TRUE(into.empty());
}

TEST_F(memory_handles, L4_settling_after_the_shutdown_answers_closed) {
  connect();
  const auto orders = receive(memory::topic("orders"));
  for (const char* text : {"a", "b", "c", "d"})
    ASSERT_TRUE(publish("orders", text));
  std::vector<delivery> held;
  while (auto d = next(*orders))
    held.push_back(std::move(*d));
  ASSERT_EQ(held.size(), 4U);
  EXPECT_EQ(shutdown().unsettled, 4U);
  EXPECT_EQ(std::move(held[0]).ack().error(), errc::closed);
  EXPECT_EQ(std::move(held[1]).retry().error(), errc::closed);
  EXPECT_EQ(std::move(held[2]).retry_after(1s).error(), errc::closed);
  EXPECT_EQ(std::move(held[3]).drop().error(), errc::closed);
  ASSERT_TRUE(rt.advance(1h));
}

// L4: the bytes of a delivery stay when everything else is gone (ASan looks).
TEST(memory_deliveries, L4_outlive_their_receiver_their_broker_and_their_subscription) {
  std::optional<delivery> held;
  virtual_runtime rt;
  {
    struct scene : bare_broker {
      void TestBody() override {}
    } s;
    s.connect();
    const auto orders = s.receive(memory::topic("orders"));
    ASSERT_TRUE(s.publish("orders", "a payload that is longer than a small string holds"));
    held = s.next(*orders);
    s.shutdown();
    s.connected.reset();
    s.port.reset();
  }
  ASSERT_TRUE(held);
  EXPECT_EQ(held->text(), "a payload that is longer than a small string holds");
  EXPECT_EQ(held->delivery_count(), 1U);
  EXPECT_EQ(std::move(*held).ack().error(), errc::closed);
}
TEST_F(memory_handles, a_delivery_that_nobody_settles_goes_back) {
  connect();
  const auto orders = receive(memory::topic("orders"));
  ASSERT_TRUE(publish("orders", "a"));
  next(*orders).reset();
  auto again = next(*orders);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text(), "a");
  EXPECT_TRUE(std::move(*again).ack());
  EXPECT_FALSE(next(*orders));
}
TEST_F(memory_handles, conformance_delivery_counts_go_1_2_3) {
  connect();
  const auto orders = receive(memory::topic("orders"));
  ASSERT_TRUE(publish("orders", "a"));
  for (std::uint32_t n = 1; n <= 3; ++n) {
    auto d = next(*orders);
    ASSERT_TRUE(d);
    EXPECT_EQ(d->delivery_count(), n);
    EXPECT_TRUE(std::move(*d).retry());
  }
}
TEST_F(memory_handles, an_ack_out_of_order_leaves_the_others) {
  connect();
  const auto orders = receive(memory::topic("orders"));
  for (const char* text : {"1", "2", "3"})
    ASSERT_TRUE(publish("orders", text));
  auto first = next(*orders);
  auto second = next(*orders);
  EXPECT_TRUE(std::move(*next(*orders)).ack());
  first.reset();
  second.reset();
  texts back;
  while (auto d = next(*orders)) {
    back.emplace_back(d->text());
    EXPECT_TRUE(std::move(*d).ack());
  }
  EXPECT_EQ(back, (texts{"1", "2"}));
}

// A delay that nobody waits for any more must not fire into what is gone.
TEST_F(memory_handles, a_pending_delay_dies_with_the_broker) {
  connect();
  {
    const auto orders = receive(memory::topic("orders"));
    ASSERT_TRUE(publish("orders", "a"));
    EXPECT_TRUE(std::move(*next(*orders)).retry_after(10s));
    connected.reset();
    port.reset();
  }
  ASSERT_TRUE(rt.advance(1min));
}
TEST(memory_deliveries, a_pending_delay_does_not_outlive_the_clock) {
  std::shared_ptr<publish_port> port;
  {
    struct scene : bare_broker {
      void TestBody() override {}
    } s;
    s.connect();
    const auto orders = s.receive(memory::topic("orders"));
    ASSERT_TRUE(s.publish("orders", "a"));
    EXPECT_TRUE(std::move(*s.next(*orders)).retry_after(10s));
    s.shutdown();
    port = s.port;
  } // the runtime goes first
  port.reset();
}

TEST_F(memory_handles, the_closed_broker_says_what_it_left) {
  connect();
  const auto a = receive(memory::topic("orders"));
  const auto b = receive(memory::topic("orders").group("g"));
  ASSERT_TRUE(publish("orders", "x"));
  EXPECT_TRUE(std::move(*next(*a)).ack());
  const auto left = shutdown();
  EXPECT_EQ(left.subscriptions, 2U);
  EXPECT_EQ(left.unsettled, 1U);
}
TEST_F(memory_handles, copies_share_one_state_and_one_clock) {
  const memory::broker shared;
  connect(shared);
  auto copy = rt.drive(memory::broker(shared).connect(rt));
  ASSERT_TRUE(copy);
  const auto orders = receive(memory::topic("orders"));
  publish_operation op(&rt);
  (*copy->pair(memory::publish{}))->publish({"orders", as_bytes("x")}, op);
  EXPECT_TRUE(op.take());
  EXPECT_TRUE(next(*orders));
  virtual_runtime other;
  EXPECT_EQ(other.drive(memory::broker(shared).connect(other)).error(), errc::invalid_options);
  shutdown();
  EXPECT_EQ(rt.drive(memory::broker(shared).connect(rt)).error(), errc::closed);
}
TEST_F(memory_handles, an_empty_destination_is_refused) {
  connect();
  EXPECT_EQ(publish("", "x").error(), errc::invalid_options);
}

// Bounds.
TEST_F(memory_handles, a_full_queue_refuses_and_delivers_nowhere) {
  connect(memory::broker{}.queue_limit(2));
  const auto slow = receive(memory::topic("orders"));
  const auto quick = receive(memory::topic("orders"));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(publish("orders", std::to_string(i)));
    EXPECT_TRUE(std::move(*next(*quick)).ack());
  }
  const auto refused = publish("orders", "2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), errc::queue_full);
  EXPECT_TRUE(refused.error().message().contains("'orders'")) << refused.error().message();
  EXPECT_FALSE(next(*quick));
  EXPECT_TRUE(std::move(*next(*slow)).ack());
  EXPECT_TRUE(publish("orders", "3"));
  EXPECT_EQ(next(*quick)->text(), "3");
}
TEST_F(memory_handles, retention_is_bounded_by_count_and_by_bytes) {
  connect(memory::broker{}.retain({3, 10}));
  const auto kept = [&] {
    texts all;
    const auto r = receive(memory::topic("orders").from_start());
    while (auto d = next(*r)) {
      all.emplace_back(d->text());
      EXPECT_TRUE(std::move(*d).ack());
    }
    return all;
  };
  for (const char* text : {"1", "2", "3", "4"})
    ASSERT_TRUE(publish("orders", text));
  EXPECT_EQ(kept(), (texts{"2", "3", "4"}));
  ASSERT_TRUE(publish("orders", "nine bytes"));
  EXPECT_EQ(kept(), texts{"nine bytes"});
  ASSERT_TRUE(publish("orders", "larger than the bound of ten bytes"));
  EXPECT_EQ(kept(), texts{"larger than the bound of ten bytes"}); // the newest always stays
  EXPECT_EQ(kept().size(), 1U);                                   // reading takes nothing away
}
TEST_F(memory_handles, without_from_start_a_subscription_begins_at_the_tip) {
  connect(memory::broker{}.retain({3, 0}));
  ASSERT_TRUE(publish("orders", "old"));
  const auto r = receive(memory::topic("orders"));
  EXPECT_FALSE(next(*r));
  ASSERT_TRUE(publish("orders", "new"));
  EXPECT_EQ(next(*r)->text(), "new");
}

// core 2.18
TEST_F(memory_requests, are_answered_by_a_handler) {
  on.subscribe("prices", [](bytes_view payload) { return payload; }).reply_to_sender();
  start();
  const auto answer = rt.drive(ask(pub, "prices", "tea", 1s));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->payload, "tea");
}
TEST_F(memory_requests, time_out_on_the_clock) {
  texts into;
  collect(memory::topic("prices"), into);
  start();
  const time_point began = rt.now();
  const auto answer = rt.drive(ask(pub, "prices", "tea", 3s));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), errc::timeout);
  EXPECT_EQ(rt.now() - began, 3s);
}
TEST_F(memory_requests, that_nobody_hears_fail_at_once) {
  start();
  const time_point began = rt.now();
  EXPECT_EQ(rt.drive(ask(pub, "prices", "tea", 3s)).error(), errc::publish);
  EXPECT_EQ(rt.now(), began);
}
// core 2.18: a late reply resolves nothing.
TEST_F(memory_requests, a_late_answer_does_not_resolve_a_later_request) {
  on.subscribe("prices",
               [](bytes_view payload, context& ctx) -> task<std::string> {
                 const std::string text(as_text(payload));
                 if (text == "slow") co_await ctx.sleep_for(5s);
                 co_return text;
               })
      .reply_to_sender()
      .workers(2);
  start();
  EXPECT_EQ(rt.drive(ask(pub, "prices", "slow", 1s)).error(), errc::timeout);
  advance(10s);
  const auto answer = rt.drive(ask(pub, "prices", "quick", 30s));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->payload, R"("quick")");
}
TEST_F(memory_requests, that_wait_at_the_shutdown_answer_closed) {
  texts into;
  collect(memory::topic("prices"), into);
  start();
  std::optional<errc> seen;
  task_group group(rt);
  group.spawn(
      [](memory_publisher to, std::optional<errc>& out) -> task<> {
        auto answer = co_await ask(to, "prices", "x", 1h);
        if (!answer && answer.error() == errc::closed) out = errc::closed;
      }(pub, seen),
      "a request");
  EXPECT_TRUE(stop());
  react();
  EXPECT_EQ(seen, errc::closed);
}
