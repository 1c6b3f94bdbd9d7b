// core 2.2, 2.12, 2.13: what a handler's end makes of its message.
#include "scripted_broker.hpp"

#include <gtest/gtest.h>

using namespace core_test;

namespace {

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))

struct dispatch : ::testing::Test {
  scripted_rig r;
  std::vector<std::string> settled() const {
    std::vector<std::string> out;
    for (const auto& line : r.broker->journal)
      if (line.starts_with("settle ")) out.push_back(line.substr(7));
    return out;
  }
  template <class Handler> std::vector<std::string> after_one(Handler handler, std::string payload = R"({"id":1})") {
    r.subscribe("orders", std::move(handler));
    EXPECT_TRUE(r.start());
    r.deliver("orders", std::move(payload));
    return settled();
  }
};
using texts = std::vector<std::string>;

task<outcome> slow_drop(const order&, context& ctx) {
  co_await ctx.sleep_for(5s);
  co_return drop();
}
std::expected<void, std::string> disagrees(const order&) { return std::unexpected("out of paper"); }
std::expected<void, outcome> chooses(const order&) { return std::unexpected(drop()); }
std::expected<outcome, error> agrees(const order&) { return drop(); }
task<std::expected<void, error>> disagrees_later(const order&, context& ctx) {
  co_await ctx.sleep_for(1s);
  co_return fail(errc::timeout, "the printer");
}
task<> throws_at_once(const order&) {
  throw std::runtime_error("too early");
  co_return;
}
task<> throws_later(const order&, context& ctx) {
  co_await ctx.sleep_for(1s);
  throw 5;
}

} // namespace

TEST_F(dispatch, a_void_handler_acknowledges) { // core 3.1
  EXPECT_EQ(after_one([](const order&) {}), texts{"ack"});
}
TEST_F(dispatch, an_error_side_drops_and_its_text_is_logged) { // core 3.1
  EXPECT_EQ(after_one(disagrees), texts{"drop"});
  EXPECT_EQ(r.log.count(log_level::warning, "'orders'", "out of paper"), 1U);
}
TEST_F(dispatch, an_error_side_that_is_an_outcome_settles_by_it) { EXPECT_EQ(after_one(chooses), texts{"drop"}); }
TEST_F(dispatch, a_value_side_that_is_an_outcome_settles_by_it) { EXPECT_EQ(after_one(agrees), texts{"drop"}); }
TEST_F(dispatch, an_error_after_a_suspension_drops) {
  EXPECT_EQ(after_one(disagrees_later), texts{});
  r.advance(1s);
  EXPECT_EQ(settled(), texts{"drop"});
  EXPECT_EQ(r.log.count(log_level::warning, "the printer"), 1U);
}

// core 3.2
TEST_F(dispatch, settles_when_the_handler_ended_and_never_before) {
  EXPECT_EQ(after_one(slow_drop), texts{});
  r.advance(5s - 1ns);
  EXPECT_EQ(settled(), texts{});
  r.advance(1ns);
  EXPECT_EQ(settled(), texts{"drop"});
  EXPECT_EQ(r.broker->times("release"), 1U);
}

// core 3.4: the message is the broker's again, the handler does not run again here.
TEST_F(dispatch, a_failed_ack_is_reported_and_the_loop_goes_on) {
  int calls = 0;
  r.broker->on_settle = [](settlement) { return fail(errc::closed, "link detached"); };
  after_one([&](const order&) { ++calls; });
  r.deliver("orders", R"({"id":2})");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(r.log.count(log_level::warning, "'orders'", "link detached"), 2U);
  EXPECT_EQ(r.broker->times("release"), 2U);
}
// core 3.5
TEST_F(dispatch, an_ack_that_the_transport_lacks_is_no_failure) {
  r.broker->on_settle = [](settlement) { return fail(errc::unsupported, "core NATS"); };
  after_one([](const order&) {});
  EXPECT_EQ(r.log.count(log_level::warning), 0U);
  EXPECT_EQ(r.broker->times("release"), 1U);
}
// core 3.12
TEST_F(dispatch, headers_are_not_read_unless_the_handler_asks) {
  after_one([](const order&) {});
  EXPECT_EQ(r.broker->headers_read, 0U);
}
// core 3.8
TEST_F(dispatch, an_undecodable_message_is_rejected_and_the_handler_not_called) {
  int calls = 0;
  EXPECT_EQ(after_one([&](const order&) { ++calls; }, "{"), texts{"drop"});
  EXPECT_EQ(calls, 0);
  r.deliver("orders", R"({"id":2})");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(r.log.count(log_level::warning, "'orders'", "undecodable"), 1U);
}
// core 3.16
TEST_F(dispatch, an_exception_before_the_first_suspension_is_caught) {
  EXPECT_EQ(after_one(throws_at_once), texts{});
  ASSERT_TRUE(r.run().failure());
  EXPECT_TRUE(r.run().failure()->message().contains("too early"));
}
TEST_F(dispatch, an_exception_of_any_type_after_a_suspension_is_caught) {
  after_one(throws_later);
  r.advance(1s);
  ASSERT_TRUE(r.run().failure());
  EXPECT_EQ(*r.run().failure(), errc::handler);
}

// core 3.17: one error is reported and nothing is torn down twice.
TEST_F(dispatch, two_subscriptions_that_fail_fast_are_one_failure) {
  r.subscribe("a", [](bytes_view) { throw std::runtime_error("first"); });
  r.subscribe("b", [](bytes_view) { throw std::runtime_error("second"); });
  int told = 0;
  EXPECT_TRUE(r.start());
  r.run().on_stopping([&] { ++told; });
  r.deliver("a", "x");
  r.deliver("b", "x");
  EXPECT_EQ(told, 1);
  const auto stopped = r.stop();
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(stopped.error().message().contains("subscription 'a': first")) << stopped.error().message();
  EXPECT_EQ(r.broker->times("shutdown scripted"), 1U);
}

// core 3.62, NATS.md: a consumer that is lost turns health red; the service goes on unless it is told not to.
TEST_F(dispatch, a_lost_consumer_turns_health_red_until_it_is_back) {
  after_one([](const order&) {});
  sink& orders = *r.broker->sinks.at("orders");
  EXPECT_TRUE(r.run().health().healthy());
  orders.interrupted(error(errc::subscribe, "connection lost"));
  EXPECT_FALSE(r.run().health().healthy());
  EXPECT_EQ(r.run().health().read().active, 0U);
  EXPECT_TRUE(r.run().health().read().problems.at(0).contains("connection lost"));
  orders.resumed();
  EXPECT_TRUE(r.run().health().healthy());
  orders.dropped(3);
  orders.dropped(2);
  EXPECT_EQ(r.run().health().read().dropped, 5U);
  orders.refused(2, error(errc::subscribe, "the lease is over"));
  EXPECT_EQ(r.run().health().read().refused, 2U);
  EXPECT_TRUE(r.run().health().read().problems.back().contains("refused later: 2"));
  EXPECT_EQ(r.log.count(log_level::warning, "the lease is over"), 1U);
  EXPECT_TRUE(r.run().health().healthy());
  orders.ended(error(errc::subscribe, "consumer deleted"));
  EXPECT_FALSE(r.run().health().healthy());
  EXPECT_FALSE(r.run().failure());
  EXPECT_TRUE(r.stop());
}
TEST_F(dispatch, an_ended_subscription_stops_the_service_where_it_is_told_to) {
  r.subscribe("orders", [](bytes_view) {}).stop_when_ended();
  EXPECT_TRUE(r.start());
  r.broker->sinks.at("orders")->ended(error(errc::subscribe, "consumer deleted"));
  EXPECT_TRUE(r.run().stopping().is_set());
  const auto stopped = r.stop();
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(stopped.error().message().contains("subscription 'orders'")) << stopped.error().message();
  EXPECT_EQ(r.run().health().read().state, service_state::failed); // 3.61: readable after shutdown
}

// core 3.11
TEST_F(dispatch, header_edits_stay_in_their_delivery) {
  std::vector<std::string> seen;
  r.subscribe("orders", [&](bytes_view payload, context& ctx) {
     seen.emplace_back(ctx.headers().get("user").value_or("none"));
     ctx.edit_headers().set("user", "edited");
     EXPECT_EQ(ctx.headers().get("user"), "edited");
     return payload;
   }).reply("answers");
  EXPECT_TRUE(r.start());
  r.deliver("orders", "1", headers_of("user", "ann"));
  r.deliver("orders", "2");
  EXPECT_EQ(seen, (texts{"ann", "none"}));
  EXPECT_TRUE(r.broker->published.at(0).headers.empty());
}

// A message that the broker cannot redeliver is handled by the stopping service; one that it can goes back.
TEST_F(dispatch, what_waits_at_a_stop_is_handled_where_the_broker_cannot_redeliver) {
  r.broker->redelivers = false;
  int calls = 0;
  r.subscribe("orders", [&](bytes_view) { ++calls; });
  EXPECT_TRUE(r.start());
  r.broker->deliver("orders", "1");
  r.broker->deliver("orders", "2");
  EXPECT_TRUE(r.stop());
  EXPECT_EQ(calls, 2);
}
TEST_F(dispatch, what_waits_at_a_stop_goes_back_where_the_broker_redelivers) {
  int calls = 0;
  r.subscribe("orders", [&](bytes_view) { ++calls; });
  EXPECT_TRUE(r.start());
  r.broker->deliver("orders", "1");
  r.broker->deliver("orders", "2");
  EXPECT_TRUE(r.stop());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(r.broker->released_unsettled, 2U);
}

// core 2.5: a continuation delays neither the settlement nor the next message.
TEST_F(dispatch, a_continuation_runs_off_the_delivery_path) {
  r.subscribe("orders", [this](bytes_view payload) {
    r.broker->journal.push_back("handle " + std::string(as_text(payload)));
    return ack().then([this] { r.broker->journal.emplace_back("continuation"); });
  });
  EXPECT_TRUE(r.start());
  r.broker->deliver("orders", "1");
  r.broker->deliver("orders", "2");
  r.settle();
  EXPECT_EQ(r.broker->times("continuation"), 2U);
  EXPECT_LT(r.broker->place("release"), r.broker->place("continuation"));
  EXPECT_LT(r.broker->place("handle 2"), r.broker->place("continuation"));
}
