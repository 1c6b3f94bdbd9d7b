// core 2.11: retries, caps, dead letters and copies on brokers of every kind.
#include "scripted_broker.hpp"

#include <gtest/gtest.h>

using namespace core_test;

namespace {

using kinds = std::vector<settlement_kind>;

struct redelivery : ::testing::Test {
  scripted_rig r;
  std::vector<std::uint32_t> attempts;
  duration delay = 0s;
  int retries = 1000; ///< how often the handler asks for a retry, then it acknowledges

  registration& consume(const std::string& name = "orders") {
    return r.subscribe(name, [this](bytes_view, context& ctx) {
      attempts.push_back(ctx.attempt());
      if (retries-- <= 0) return ack();
      return delay > 0s ? retry_after(delay) : retry();
    });
  }
  void start() { ASSERT_TRUE(r.start()); }
  kinds settled() const {
    kinds out;
    for (const settlement& s : r.broker->settled)
      out.push_back(s.kind);
    return out;
  }
  const sent_message& sent(std::size_t i) { return r.broker->published.at(i); }
};

} // namespace

TEST_F(redelivery, without_a_cap_a_retry_is_the_brokers_requeue) {
  consume();
  retries = 2;
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(settled(), (kinds{settlement_kind::retry, settlement_kind::retry, settlement_kind::ack}));
  EXPECT_TRUE(r.broker->published.empty());
}

// core 3.18, 3.20, 3.27: on a broker that keeps no count, copies carry it; other headers stay.
TEST_F(redelivery, a_cap_on_a_broker_without_a_count_goes_by_the_header) {
  consume().max_attempts(3).dead_letter("orders.dead");
  start();
  r.deliver("orders", "a", headers_of("trace", "t1"));
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 2, 3}));
  ASSERT_EQ(r.broker->published.size(), 3U);
  EXPECT_EQ(sent(0).destination, "orders");
  EXPECT_EQ(sent(0).headers.get(retry_count_header), "1");
  EXPECT_EQ(sent(1).headers.get(retry_count_header), "2");
  EXPECT_EQ(sent(1).headers.get("trace"), "t1");
  EXPECT_EQ(sent(1).payload, "a");
  EXPECT_EQ(sent(2).destination, "orders.dead");
  EXPECT_EQ(sent(2).payload, "a");
  EXPECT_EQ(sent(2).headers.get("trace"), "t1");
  EXPECT_EQ(settled(), (kinds(3, settlement_kind::ack)));
}

// The copy is accepted before the original is settled: a crash in between repeats, it does not lose.
TEST_F(redelivery, an_immediate_copy_goes_out_before_the_original_is_settled) {
  consume().max_attempts(3);
  retries = 1;
  start();
  r.deliver("orders", "a");
  EXPECT_LT(r.broker->place("publish orders"), r.broker->place("settle ack"));
}

// core 3.18: a broker that counts is believed, and its count is never added to the header (3.20).
TEST_F(redelivery, a_cap_on_a_counting_broker_goes_by_its_count) {
  r.broker->counts = true;
  consume().max_attempts(3).dead_letter("orders.dead");
  start();
  r.deliver("orders", "a", headers_of(retry_count_header, "50"));
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 2, 3}));
  ASSERT_EQ(r.broker->published.size(), 1U);
  EXPECT_EQ(sent(0).destination, "orders.dead");
  EXPECT_EQ(sent(0).headers.get(retry_count_header), "50"); // as it arrived
}

// core 3.19
TEST_F(redelivery, a_spent_message_without_a_destination_is_rejected_with_a_warning) {
  r.broker->counts = true;
  consume().named("billing").max_attempts(2);
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(settled(), (kinds{settlement_kind::retry, settlement_kind::drop}));
  EXPECT_EQ(r.log.count(log_level::warning, "'billing'", "2 attempts", "rejected"), 1U);
}

// A plain drop is the broker's business: it does not go to the dead letter.
TEST_F(redelivery, a_drop_is_not_a_dead_letter) {
  r.subscribe("orders", [](bytes_view) { return drop(); }).max_attempts(1).dead_letter("orders.dead");
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(settled(), kinds{settlement_kind::drop});
  EXPECT_TRUE(r.broker->published.empty());
}

// core 3.21: the broker redelivers and dead-letters by its own declaration; a requeue stays a requeue.
TEST_F(redelivery, where_the_broker_moves_messages_the_service_caps_nothing) {
  r.broker->path = retry_path::kind::broker_moves;
  r.broker->counts = true;
  consume().max_attempts(2).dead_letter("orders.dead");
  retries = 5;
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(attempts.size(), 6U);
  EXPECT_TRUE(r.broker->published.empty());
}
TEST_F(redelivery, where_the_broker_moves_messages_a_delay_is_a_plain_requeue) {
  r.broker->path = retry_path::kind::broker_moves;
  consume();
  delay = 5s;
  retries = 1;
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(settled(), (kinds{settlement_kind::retry, settlement_kind::ack}));
}

TEST_F(redelivery, a_delay_without_a_native_one_is_a_copy_after_it) {
  consume();
  delay = 5s;
  retries = 1;
  start();
  r.deliver("orders", "a", headers_of("trace", "t1"));
  EXPECT_EQ(settled(), kinds{settlement_kind::ack}); // the original is settled at once, core 2.11
  r.advance(5s - 1ns);
  EXPECT_TRUE(r.broker->published.empty());
  r.advance(1ns);
  ASSERT_EQ(r.broker->published.size(), 1U);
  EXPECT_EQ(sent(0).destination, "orders");
  EXPECT_EQ(sent(0).headers.get(retry_count_header), "1");
  EXPECT_EQ(sent(0).headers.get("trace"), "t1");
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 2}));
}

/// A broker that counts begins anew with a copy: the attempts before it are in the header.
TEST_F(redelivery, a_delayed_copy_carries_the_brokers_count) {
  r.broker->counts = true;
  consume();
  delay = 5s;
  retries = 1;
  start();
  r.deliver("orders", "a");
  r.advance(5s);
  ASSERT_EQ(r.broker->published.size(), 1U);
  EXPECT_EQ(sent(0).headers.get(retry_count_header), "1");
}

// core 3.22: a native delay without a count honours the cap through the header.
TEST_F(redelivery, native_delay_is_the_transports) {
  r.broker->delays = true;
  consume().max_attempts(4).dead_letter("orders.dead");
  delay = 5s;
  start();
  r.deliver("orders", "a");
  ASSERT_EQ(r.broker->settled.size(), 1U);
  EXPECT_EQ(r.broker->settled[0].kind, settlement_kind::retry_after);
  EXPECT_EQ(r.broker->settled[0].delay, 5s);
  r.deliver("orders", "b", headers_of(retry_count_header, "3"));
  EXPECT_EQ(attempts.back(), 4U);
  ASSERT_EQ(r.broker->published.size(), 1U);
  EXPECT_EQ(sent(0).destination, "orders.dead");
}

// core 3.24: a zero delay is processed again at once.
TEST_F(redelivery, a_zero_delay_is_an_immediate_retry) {
  r.subscribe("orders", [this](bytes_view, context& ctx) {
    attempts.push_back(ctx.attempt());
    return attempts.size() < 2 ? retry_after(0s) : ack();
  });
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(attempts.size(), 2U);
}

// core 3.23
TEST_F(redelivery, a_refused_settlement_publishes_no_copy) {
  consume();
  delay = 1s;
  r.broker->on_settle = [](settlement) { return fail(errc::publish, "the channel is gone"); };
  start();
  r.deliver("orders", "a");
  r.advance(1h);
  EXPECT_TRUE(r.broker->published.empty());
  EXPECT_EQ(r.broker->released_unsettled, 1U); // still the broker's
  EXPECT_EQ(r.log.count(log_level::warning, "'orders'", "the channel is gone"), 1U);
}
TEST_F(redelivery, a_refused_requeue_publishes_no_copy) {
  consume();
  r.broker->on_settle = [](settlement) { return fail(errc::publish, "the channel is gone"); };
  start();
  r.deliver("orders", "a");
  EXPECT_TRUE(r.broker->published.empty());
  EXPECT_EQ(r.broker->released_unsettled, 1U);
}

// core 3.23: where the transport cannot settle, the copy is the whole mechanism.
TEST_F(redelivery, an_unsupported_settlement_publishes_a_copy) {
  consume();
  retries = 1;
  r.broker->on_settle = [](settlement) { return fail(errc::unsupported, "core NATS"); };
  start();
  r.deliver("orders", "a");
  ASSERT_EQ(r.broker->published.size(), 1U);
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(r.log.count(log_level::warning), 0U); // 3.5: not an error of the service
}
TEST_F(redelivery, an_unsupported_delay_publishes_a_copy) {
  consume();
  retries = 1;
  delay = 2s;
  r.broker->on_settle = [](settlement) { return fail(errc::unsupported, "core NATS"); };
  start();
  r.deliver("orders", "a");
  EXPECT_TRUE(r.broker->published.empty());
  r.advance(2s);
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(redelivery, copies_go_where_retry_to_says) {
  consume().retry_to("orders.again").max_attempts(5);
  retries = 1;
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(sent(0).destination, "orders.again");
}

// core 3.27: a count that is not a number is none.
TEST_F(redelivery, a_malformed_count_is_none) {
  retries = 0;
  consume();
  start();
  for (const char* count : {"", "x", "-1", " 2", "12abc", "99999999999999999999"})
    r.deliver("orders", "a", headers_of(retry_count_header, count));
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>(6, 1)));
  r.deliver("orders", "a", headers_of(retry_count_header, "4294967295"));
  EXPECT_EQ(attempts.back(), 4294967295U); // does not wrap to 0
}

// core 3.28: a dead letter that cannot be published leaves the message with its broker.
TEST_F(redelivery, a_dead_letter_that_fails_does_not_lose_the_message) {
  int refusals = 2;
  r.broker->counts = true;
  r.broker->on_publish = [&](const outgoing&) -> result<receipt> {
    if (refusals-- > 0) return fail(errc::publish, "no route");
    return receipt{};
  };
  consume().max_attempts(2).dead_letter("orders.dead");
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(settled(),
            (kinds{settlement_kind::retry, settlement_kind::retry, settlement_kind::retry, settlement_kind::ack}));
  ASSERT_EQ(r.broker->published.size(), 1U);
  EXPECT_EQ(sent(0).destination, "orders.dead");
  EXPECT_EQ(r.log.count(log_level::warning, "the dead letter was not published", "no route"), 2U);
}

// An immediate copy that fails: the original goes back instead.
TEST_F(redelivery, an_immediate_copy_that_fails_requeues_the_original) {
  int refusals = 1;
  r.broker->on_publish = [&](const outgoing&) -> result<receipt> {
    if (refusals-- > 0) return fail(errc::publish, "no route");
    return receipt{};
  };
  consume().max_attempts(5);
  retries = 2;
  start();
  r.deliver("orders", "a");
  EXPECT_EQ(settled(), (kinds{settlement_kind::retry, settlement_kind::ack, settlement_kind::ack}));
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 1, 2}));
}

TEST_F(redelivery, a_delayed_copy_is_tried_several_times_and_its_loss_is_an_error) {
  r.broker->on_publish = [](const outgoing&) -> result<receipt> { return fail(errc::publish, "no route"); };
  consume();
  delay = 1s;
  start();
  r.deliver("orders", "a");
  r.advance(1min);
  EXPECT_EQ(r.broker->times("publish orders"), 5U);
  EXPECT_EQ(r.log.count(log_level::error, "'orders'", "the message is lost", "no route"), 1U);
}

// core 3.25: a shutdown waits for a pending copy, and it goes out before the broker closes.
TEST_F(redelivery, a_shutdown_waits_for_a_pending_copy) {
  consume();
  delay = 10s;
  start();
  r.deliver("orders", "a");
  const time_point began = r.rt.now();
  EXPECT_TRUE(r.stop());
  EXPECT_EQ(r.rt.now() - began, 10s);
  EXPECT_EQ(r.broker->published.size(), 1U);
  EXPECT_LT(r.broker->place("publish orders"), r.broker->place("shutdown scripted"));
}

// core 3.25: a timeout shorter than the delay: the copy goes out early, and the exit is bounded.
TEST_F(redelivery, a_shutdown_timeout_shorter_than_the_delay_publishes_the_copy_early) {
  consume();
  delay = 1h;
  r.app.shutdown_timeout(3s);
  start();
  r.deliver("orders", "a");
  const time_point began = r.rt.now();
  EXPECT_TRUE(r.stop());
  EXPECT_LE(r.rt.now() - began, 10s);
  ASSERT_EQ(r.broker->published.size(), 1U);
  EXPECT_EQ(sent(0).headers.get(retry_count_header), "1");
  EXPECT_LT(r.broker->place("publish orders"), r.broker->place("shutdown scripted"));
  EXPECT_EQ(r.log.count(log_level::warning, "its copy is published now"), 1U);
}
