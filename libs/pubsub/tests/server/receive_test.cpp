// What arrives, and what becomes of it. "s1" to "s37" are the rows of the specification's list.
#include "fake_fixture.hpp"

#include <millrace/service.hpp>

namespace millrace::pubsub::test {
namespace {

class receiving : public on_fake {
 protected:
  /// "once", on the server.
  fake_pubsub::subscription exactly_once() {
    fake_pubsub::subscription once(subscription_name("once"), topic);
    once.exactly_once = true;
    server.create_subscription(once);
    return once;
  }
};

task<result<receipt>> send_tea(publisher<publish> to) {
  auto sent = co_await to.text("tea").to("orders");
  co_return sent;
}

TEST_F(receiving, a_message_arrives_with_all_that_it_has) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen));
  header_map headers;
  headers.set("Content-Type", "text/plain");
  const receipt sent = value_of(c.send("orders", "tea", "customer-7", headers));
  incoming* const m = seen.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), "tea");
  EXPECT_EQ(m->subject(), "worker");
  EXPECT_EQ(m->partition_key(), "customer-7");
  EXPECT_EQ(m->headers().get("content-type"), "text/plain");
  EXPECT_EQ(m->headers().get(partition_key_header), "customer-7");
  EXPECT_EQ(*static_cast<const std::string_view*>(m->field(message_id)), sent.id);
  EXPECT_EQ(*static_cast<const std::string_view*>(m->field(ordering_key)), "customer-7");
  const auto& at = *static_cast<const std::chrono::sys_time<std::chrono::nanoseconds>*>(m->field(publish_time));
  EXPECT_LT(std::chrono::abs(at - std::chrono::system_clock::now()), 1min);
  EXPECT_TRUE(ack(m));
}

TEST_F(receiving, s32_without_a_policy_there_is_no_count) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen));
  header_map headers;
  headers.set(delivery_attempt_header, "a stranger's");
  value_of(c.send("orders", "tea", {}, headers));
  incoming* const m = seen.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->delivery_count(), 0U);
  EXPECT_EQ(m->field(delivery_attempt), nullptr);
  EXPECT_EQ(m->field(ordering_key), nullptr);
  EXPECT_EQ(m->headers().get(delivery_attempt_header), "a stranger's");
  EXPECT_TRUE(ack(m));
}

TEST_F(receiving, s30_a_drop_at_the_declared_cap_carries_the_message_to_the_dead_letter_topic) {
  client c(at(server));
  server.create_topic(topic_name("dead"));
  server.create_subscription({subscription_name("letters"), topic_name("dead")});
  open_options declared;
  declared.max_attempts = 5;
  declared.dead_letter = "dead";
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen, declared));
  value_of(c.send("orders", "dropped early"));
  EXPECT_TRUE(settle(seen.next(), settlement_kind::drop));
  EXPECT_TRUE(eventually([&] { return server.outstanding(name) == 0; }));
  EXPECT_EQ(server.waiting(subscription_name("letters")), 0U);
  value_of(c.send("orders", "poison"));
  for (std::uint32_t n = 1; n <= 5; ++n) {
    incoming* const m = seen.next();
    ASSERT_NE(m, nullptr) << n;
    EXPECT_EQ(m->delivery_count(), n);
    EXPECT_EQ(m->headers().get(delivery_attempt_header), std::to_string(n));
    EXPECT_TRUE(settle(m, n < 5 ? settlement_kind::retry : settlement_kind::drop));
  }
  EXPECT_TRUE(eventually([&] { return server.waiting(subscription_name("letters")) == 1; }));
}

TEST_F(receiving, s35_the_window_holds_messages_back_until_one_is_settled) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker").max_outstanding(3), seen));
  for (int i = 0; i < 10; ++i)
    value_of(c.send("orders", std::to_string(i)));
  ASSERT_TRUE(seen.arrived(3));
  EXPECT_FALSE(seen.arrived(4, 200ms));
  EXPECT_EQ(server.outstanding(name), 3U);
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_TRUE(seen.arrived(4));
  for (int i = 1; i < 10; ++i)
    EXPECT_TRUE(ack(seen.next()));
}

TEST_F(receiving, s24_what_follows_a_refused_message_of_a_key_comes_again_in_order) {
  fake_pubsub::subscription ordered(subscription_name("in-order"), topic);
  ordered.ordered = true;
  server.create_subscription(ordered);
  client c(at(server));
  for (const char* payload : {"1", "2", "3", "4"})
    value_of(c.send("orders", payload, "key"));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("in-order"), seen));
  ASSERT_TRUE(seen.arrived(4));
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_TRUE(settle(seen.next(), settlement_kind::retry));
  seen.release_all(); // 3 and 4 go back as well
  std::string again;
  for (int i = 0; i < 3; ++i) {
    incoming* const m = seen.next();
    ASSERT_NE(m, nullptr);
    again += as_text(m->payload());
    EXPECT_TRUE(ack(m));
  }
  EXPECT_EQ(again, "234");
}

TEST_F(receiving, s24_a_key_goes_on_when_its_message_was_dead_lettered) {
  server.create_topic(topic_name("dead"));
  server.create_subscription({subscription_name("letters"), topic_name("dead")});
  fake_pubsub::subscription ordered(subscription_name("in-order"), topic);
  ordered.ordered = true;
  ordered.dead_letter_topic = topic_name("dead");
  ordered.max_delivery_attempts = 5;
  server.create_subscription(ordered);
  client c(at(server));
  for (const char* payload : {"poison", "next"})
    value_of(c.send("orders", payload, "key"));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("in-order").max_outstanding(1), seen));
  for (int n = 0; n < 5; ++n) {
    incoming* const m = seen.next();
    ASSERT_NE(m, nullptr);
    ASSERT_EQ(as_text(m->payload()), "poison");
    EXPECT_TRUE(settle(m, settlement_kind::retry));
  }
  incoming* const next = seen.next();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(as_text(next->payload()), "next");
  EXPECT_TRUE(ack(next));
  EXPECT_EQ(server.waiting(subscription_name("letters")), 1U);
}

TEST_F(receiving, a_filter_of_the_subscription_is_the_services) {
  fake_pubsub::subscription filtered(subscription_name("filtered"), topic);
  filtered.filter = "attributes.kind = \"tea\"";
  server.create_subscription(filtered);
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("filtered"), seen));
  header_map tea;
  tea.set("kind", "tea");
  value_of(c.send("orders", "coffee"));
  value_of(c.send("orders", "a cup", {}, tea));
  incoming* const m = seen.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), "a cup");
  EXPECT_TRUE(ack(m));
}

TEST_F(receiving, a_retry_comes_back_at_once_and_a_delayed_one_after_its_delay) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen));
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(settle(seen.next(), settlement_kind::retry));
  incoming* const second = seen.next();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(settle(second, settlement_kind::retry_after, 700ms));
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 700ms);
}

TEST_F(receiving, s14_a_delay_beyond_the_lease_is_refused_and_the_message_comes_back) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker").max_lease(30s), seen));
  value_of(c.send("orders", "tea"));
  incoming* const m = seen.next();
  ASSERT_NE(m, nullptr);
  const result<void> refused = m->settle({settlement_kind::retry_after, 31s});
  m->release();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::delay_beyond_lease));
  EXPECT_TRUE(refused.error().context().contains("31")) << refused.error().context();
  EXPECT_TRUE(ack(seen.next()));
}

TEST_F(receiving, s15_a_delay_that_is_lost_with_its_process_does_not_lose_the_message) {
  {
    client dying(at(server));
    waiting_sink seen;
    const auto port = value_of(open(dying, subscription("worker"), seen));
    value_of(dying.send("orders", "tea"));
    EXPECT_TRUE(settle(seen.next(), settlement_kind::retry_after, 1h));
    dying.drop();
  }
  ASSERT_TRUE(eventually([&] { return server.open_streams(name) == 0; }));
  server.expire_leases(name);
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen));
  EXPECT_TRUE(ack(seen.next()));
}

TEST_F(receiving, a_delay_outlives_an_orderly_shutdown) {
  client c(at(server));
  waiting_sink seen;
  auto port = value_of(open(c, subscription("worker"), seen));
  value_of(c.send("orders", "tea"));
  server.record("ModifyAckDeadline");
  EXPECT_TRUE(settle(seen.next(), settlement_kind::retry_after, 5min));
  stop(std::move(port));
  value_of(c.shutdown());
  EXPECT_EQ(server.outstanding(name), 1U); // leased for the rest of the delay
  EXPECT_EQ(server.waiting(name), 0U);
}

TEST_F(receiving, s18_what_was_settled_before_the_subscription_went_is_sent) {
  client c(at(server));
  {
    waiting_sink seen;
    const auto port = value_of(open(c, subscription("worker"), seen));
    value_of(c.send("orders", "tea"));
    EXPECT_TRUE(ack(seen.next()));
  }
  EXPECT_TRUE(eventually([&] { return server.outstanding(name) == 0; }));
  EXPECT_EQ(server.waiting(name), 0U);
}

// P9
TEST_F(receiving, s20_a_message_in_a_handler_stays_leased_when_its_subscription_stops) {
  client c(at(server));
  waiting_sink seen;
  auto port = value_of(open(c, subscription("worker"), seen));
  value_of(c.send("orders", "in a handler"));
  incoming* const held = seen.next();
  ASSERT_NE(held, nullptr);
  value_of(c.send("orders", "waiting"));
  ASSERT_TRUE(seen.arrived(2));
  stop(std::move(port));
  seen.release_all();
  EXPECT_TRUE(eventually([&] { return server.waiting(name) == 1; })); // at once, not after its deadline
  EXPECT_EQ(server.outstanding(name), 1U);
  EXPECT_TRUE(ack(held));
  EXPECT_TRUE(eventually([&] { return server.outstanding(name) == 0; }));
}

TEST_F(receiving, s19_thousands_go_back_at_a_shutdown_in_requests_of_legal_size) {
  constexpr std::size_t messages = 6000;
  client c(at(server));
  {
    many_sends sends(c);
    for (std::size_t i = 0; i < messages; ++i)
      sends.add("orders", "m");
    EXPECT_EQ(sends.accepted(), messages);
  }
  waiting_sink seen;
  auto port = value_of(open(c, subscription("worker").max_outstanding(messages), seen));
  ASSERT_TRUE(seen.arrived(messages));
  server.record("ModifyAckDeadline");
  stop(std::move(port));
  seen.release_all();
  value_of(c.shutdown());
  EXPECT_EQ(server.waiting(name), messages);
  EXPECT_GE(server.recorded("ModifyAckDeadline").size(), 3U);
  for (const std::string& request : server.recorded("ModifyAckDeadline"))
    EXPECT_LE(request.size(), 512U * 1024);
}

TEST_F(receiving, s16_an_exactly_once_ack_that_came_too_late_brings_the_message_back) {
  const fake_pubsub::subscription once = exactly_once();
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("once"), seen));
  value_of(c.send("orders", "tea"));
  incoming* const late = seen.next();
  ASSERT_NE(late, nullptr);
  server.expire_leases(once.name);
  EXPECT_TRUE(ack(late)); // handed over
  EXPECT_TRUE(seen.told("refused 1: "));
  EXPECT_TRUE(seen.notes().back().contains(once.name)) << seen.notes().back();
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_TRUE(eventually([&] { return server.outstanding(once.name) == 0; }));
}

/// A service learns it from its health, and its handler by the repetition.
TEST_F(receiving, s16_a_service_counts_the_acks_that_came_too_late_in_its_health) {
  const fake_pubsub::subscription once = exactly_once();
  service app{{.title = "orders"}};
  app.threads(1);
  auto on = app.with_broker(at(server));
  std::atomic<int> calls = 0;
  on.subscribe("once", [&](bytes_view) {
    if (calls.fetch_add(1) == 0) server.expire_leases(once.name);
  });
  const auto out = on.publisher();
  auto running = value_of(app.start());
  value_of(sync_wait(send_tea(out)));
  EXPECT_TRUE(eventually([&] { return running.health().read().refused == 1; }));
  EXPECT_TRUE(eventually([&] { return calls == 2 && server.outstanding(once.name) == 0; }));
  EXPECT_TRUE(running.health().healthy());
  EXPECT_TRUE(running.health().read().problems.front().contains("refused later: 1"));
  value_of(running.shutdown());
}

/// The first call's acknowledgement comes too late, so what follows it is left to the second one's.
TEST_F(receiving, s16_a_continuation_waits_until_the_service_confirmed_the_ack) {
  const fake_pubsub::subscription once = exactly_once();
  service app{{.title = "orders"}};
  app.threads(1);
  auto on = app.with_broker(at(server));
  std::atomic<int> calls = 0;
  std::atomic<int> first_continued = 0;
  std::atomic<int> second_continued = 0;
  std::atomic<std::size_t> outstanding_then = 1;
  on.subscribe("once", [&](bytes_view) {
    if (calls.fetch_add(1) == 0) {
      server.expire_leases(once.name);
      return millrace::ack().then([&] { ++first_continued; });
    }
    return millrace::ack().then([&] {
      outstanding_then = server.outstanding(once.name);
      ++second_continued;
    });
  });
  const auto out = on.publisher();
  auto running = value_of(app.start());
  value_of(sync_wait(send_tea(out)));
  EXPECT_TRUE(eventually([&] { return second_continued == 1; }));
  EXPECT_EQ(outstanding_then, 0U);
  EXPECT_EQ(first_continued, 0);
  value_of(running.shutdown());
}

TEST_F(receiving, s17_whoever_waits_for_an_ack_hears_when_it_was_taken_or_that_it_never_will_be) {
  const fake_pubsub::subscription once = exactly_once();
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("once"), seen));
  server.refuse_acks_for_now(2);
  value_of(c.send("orders", "tea"));
  value_of(sync_wait(delivery(*seen.next()).settle_confirmed({})));
  EXPECT_EQ(server.outstanding(once.name), 0U);
  value_of(c.send("orders", "milk"));
  incoming* const late = seen.next();
  ASSERT_NE(late, nullptr);
  server.expire_leases(once.name);
  const auto answer = sync_wait(delivery(*late).settle_confirmed({}));
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().message().contains(once.name)) << answer.error().message();
}

TEST_F(receiving, s17_who_waits_for_an_ack_hears_of_the_shutdown_that_came_first) {
  const fake_pubsub::subscription once = exactly_once();
  client c(at(server).shutdown_timeout(300ms));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("once"), seen));
  server.refuse_acks_for_now(1'000);
  value_of(c.send("orders", "tea"));
  delivery held(*seen.next());
  std::promise<result<void>> heard;
  std::thread waiting([&] { heard.set_value(sync_wait(std::move(held).settle_confirmed({}))); });
  EXPECT_TRUE(eventually([&] { return server.calls("Acknowledge") > 0; }));
  (void)c.shutdown();
  waiting.join();
  const auto answer = heard.get_future().get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), errc::not_connected);
}

TEST_F(receiving, an_ack_that_is_forbidden_is_told_with_what_the_service_said) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen));
  server.fail_next("Acknowledge", 7, 1, "no right to acknowledge");
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_TRUE(seen.told("refused 1: "));
  EXPECT_TRUE(seen.notes().back().contains("no right to acknowledge")) << seen.notes().back();
}

TEST_F(receiving, s17_acks_that_are_refused_for_now_are_sent_again) {
  const fake_pubsub::subscription once = exactly_once();
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("once"), seen));
  server.refuse_acks_for_now(2);
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_TRUE(eventually([&] { return server.outstanding(once.name) == 0; }));
  EXPECT_EQ(server.calls("Acknowledge"), 3U);
  EXPECT_EQ(seen.arrived(), 1U);
}

TEST_F(receiving, settling_after_an_outage_of_acknowledgements_still_counts) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen));
  server.fail_next("Acknowledge", 14, 3);
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_TRUE(eventually([&] { return server.outstanding(name) == 0; }));
}

} // namespace
} // namespace millrace::pubsub::test
