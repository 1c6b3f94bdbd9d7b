#include "delivery_types.hpp"

#include <millrace/resilience/timeout.hpp>

#include <gtest/gtest.h>
#include <stdexcept>

using namespace delivery;
using millrace::resilience::overdue_handler;
using millrace::resilience::timeout;

namespace {

/// Works for as many seconds as the order's id says, then answers.
auto working(millrace::outcome (*answer)()) {
  return [answer](const order& o, millrace::context& ctx) -> millrace::task<millrace::outcome> {
    co_await ctx.sleep_for(std::chrono::seconds(o.id));
    co_return answer();
  };
}

timeout reporting(millrace::duration limit, const log_lines& log) {
  timeout t(limit);
  t.on_deadline([log](const overdue_handler& late) {
    log->push_back(std::string(late.subscription) + " " + std::string(late.subject));
  });
  return t;
}

} // namespace

TEST(Timeout, an_answer_in_time_stands) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", working(millrace::ack)).use(reporting(5s, log));
  test_service t(s.app);
  t.publish("orders", order{4, "tea"});
  t.advance(10s);
  t.subscription("orders").called_once().settled(millrace::ack());
  EXPECT_TRUE(log->empty());
}

TEST(Timeout, is_reported_at_the_deadline_while_the_handler_runs) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", working(millrace::ack)).use(reporting(5s, log)).named("slow");
  test_service t(s.app);
  t.publish("orders", order{60, "tea"});
  t.advance(4999ms);
  EXPECT_TRUE(log->empty());
  t.advance(1ms);
  EXPECT_EQ(*log, (std::vector<std::string>{"slow orders"}));
  t.advance(30s);
  EXPECT_EQ(log->size(), 1U); // once, and the handler has not been touched
  EXPECT_TRUE(t.subscription("slow").outcomes().empty());
}

TEST(Timeout, discards_a_late_ack_and_delivers_again) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders",
                 [](const order&, millrace::context& ctx) -> millrace::task<void> {
                   if (ctx.attempt() == 1) co_await ctx.sleep_for(6s);
                 })
      .use(reporting(5s, log));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.advance(6s);
  t.subscription("orders").called(2).settled(millrace::ack());
  EXPECT_EQ(t.subscription("orders").outcomes().front(), millrace::testing::outcome_kind::nack);
  EXPECT_EQ(log->size(), 1U);
}

TEST(Timeout, an_answer_at_the_deadline_is_late) {
  orders_service s;
  s.on.subscribe("orders", working(millrace::ack)).use(timeout(5s).retry_in(1min));
  test_service t(s.app);
  t.publish("orders", order{5, "tea"});
  t.advance(5s);
  t.subscription("orders").called_once().settled(millrace::retry_after(1min));
}

TEST(Timeout, a_late_drop_is_discarded_and_a_late_retry_stands) {
  orders_service s;
  s.on.subscribe("drops", working(millrace::drop)).use(timeout(1s).retry_in(1min));
  s.on.subscribe("retries", working([] { return millrace::retry_after(9s); })).use(timeout(1s).retry_in(1min));
  test_service t(s.app);
  t.publish("drops", order{2, "tea"});
  t.publish("retries", order{2, "tea"});
  t.advance(2s);
  t.subscription("drops").settled(millrace::retry_after(1min));
  t.subscription("retries").settled(millrace::retry_after(9s));
}

TEST(Timeout, may_only_report) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", working(millrace::ack)).use(reporting(1s, log).keep_late_answers());
  test_service t(s.app);
  t.publish("orders", order{2, "tea"});
  t.advance(2s);
  t.subscription("orders").called_once().settled(millrace::ack());
  EXPECT_EQ(log->size(), 1U);
}

TEST(Timeout, a_late_exception_is_still_the_handlers) {
  orders_service s;
  s.on.subscribe("orders",
                 [](const order&, millrace::context& ctx) -> millrace::task<void> {
                   co_await ctx.sleep_for(2s);
                   throw std::runtime_error("broken");
                 })
      .use(timeout(1s))
      .on_exception(millrace::failure_policy::drop());
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.advance(2s);
  t.subscription("orders").called_once().settled(millrace::drop());
}

TEST(Timeout, a_late_reply_is_not_sent) {
  orders_service s;
  s.on.subscribe("orders",
                 [](const order& o, millrace::context& ctx) -> millrace::task<order> {
                   if (ctx.attempt() == 1) co_await ctx.sleep_for(2s);
                   co_return o;
                 })
      .reply("copies")
      .use(timeout(1s));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.advance(2s);
  t.subscription("orders").called(2);
  t.published("copies").once();
}

TEST(Timeout, an_observer_that_throws_is_no_failure) {
  orders_service s;
  s.on.subscribe("orders", working(millrace::ack)).use(timeout(1s).keep_late_answers().on_deadline([](const auto&) {
    throw std::runtime_error("broken");
  }));
  test_service t(s.app);
  t.publish("orders", order{2, "tea"});
  t.advance(2s);
  t.subscription("orders").settled(millrace::ack());
  t.assert_running();
}

TEST(Timeout, a_stop_during_the_handler_leaves_no_timer_behind) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", working(millrace::ack)).use(reporting(1h, log));
  test_service t(s.app);
  t.publish("orders", order{7200, "tea"});
  static_cast<void>(t.shutdown());
  t.subscription("orders").left_unsettled();
  EXPECT_TRUE(log->empty());
}

TEST(Timeout, the_handler_sees_its_deadline_the_earlier_one_counts) {
  orders_service s;
  std::vector<millrace::duration> left;
  const auto note = [&left](const order&, millrace::context& ctx) {
    left.push_back(ctx.deadline() ? *ctx.deadline() - ctx.runtime().now() : millrace::duration::max());
  };
  s.on.subscribe("bounded", note).use(timeout(5s)).use(timeout(20s));
  s.on.subscribe("free", note);
  test_service t(s.app);
  t.publish("bounded", order{1, "tea"});
  t.publish("free", order{1, "tea"});
  EXPECT_EQ(left, (std::vector<millrace::duration>{5s, millrace::duration::max()}));
}
