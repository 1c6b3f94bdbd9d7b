#include "delivery_types.hpp"

#include <millrace/resilience/backoff.hpp>

#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <stdexcept>

using namespace delivery;
using millrace::resilience::backoff;
using millrace::resilience::retry_exceptions;
using millrace::resilience::retry_with;

TEST(Backoff, grows_to_its_cap_and_never_overflows) {
  const auto b = backoff::exponential(100ms, 1s);
  EXPECT_EQ(b.delay(1), 100ms);
  EXPECT_EQ(b.delay(2), 200ms);
  EXPECT_EQ(b.delay(4), 800ms);
  EXPECT_EQ(b.delay(5), 1s);
  EXPECT_EQ(b.delay(std::numeric_limits<std::uint32_t>::max()), 1s);
  EXPECT_EQ(b.delay(0), 100ms); // there is no attempt 0
  EXPECT_EQ(backoff::exponential(100ms, 1min, 3).delay(3), 900ms);
  EXPECT_EQ(backoff::exponential(100ms, 1min, 0.5).delay(9), 100ms);
  EXPECT_EQ(backoff::exponential(5s, 1s).delay(1), 1s);
}

TEST(Backoff, a_list_ends_with_its_last_delay) {
  const auto b = backoff::fixed({1s, 5s, -1s, 30s});
  EXPECT_EQ(b.delay(1), 1s);
  EXPECT_EQ(b.delay(3), 0s);
  EXPECT_EQ(b.delay(4), 30s);
  EXPECT_EQ(b.delay(5), 30s);
  EXPECT_EQ(backoff::fixed({}).delay(1), 0s);
}

TEST(Backoff, full_jitter_stays_between_zero_and_the_delay) {
  const auto b = backoff::exponential(1s, 1min).full_jitter(7);
  millrace::duration least = 1h;
  millrace::duration most{};
  for (int i = 0; i < 2000; ++i) {
    const auto d = b.delay(3);
    least = std::min(least, d);
    most = std::max(most, d);
  }
  EXPECT_GE(least, 0s);
  EXPECT_LT(least, 200ms);
  EXPECT_LE(most, 4s);
  EXPECT_GT(most, 3800ms);
}

TEST(Backoff, equal_jitter_keeps_half) {
  const auto b = backoff::fixed({1s}).equal_jitter(7);
  std::set<millrace::duration> seen;
  for (int i = 0; i < 2000; ++i) {
    const auto d = b.delay(1);
    EXPECT_GE(d, 500ms);
    EXPECT_LE(d, 1s);
    seen.insert(d);
  }
  EXPECT_GT(seen.size(), 1900U);
  EXPECT_LT(*seen.begin(), 510ms);
  EXPECT_GT(*seen.rbegin(), 990ms);
  EXPECT_EQ(backoff::fixed({0s}).equal_jitter(7).delay(1), 0s);
}

TEST(Backoff, a_seed_repeats_its_sequence_and_copies_share_it) {
  const auto a = backoff::fixed({1s}).full_jitter(42);
  const auto b = backoff::fixed({1s}).full_jitter(42);
  const auto first = a.delay(1);
  const backoff copy = a;
  const auto second = copy.delay(1);
  EXPECT_EQ(b.delay(1), first);
  EXPECT_EQ(b.delay(1), second);
  EXPECT_NE(first, second);
  EXPECT_NE(backoff::fixed({1s}).full_jitter(43).delay(1), first);
  EXPECT_LE(backoff::fixed({1s}).full_jitter().delay(1), 1s);
}

TEST(RetryWith, turns_a_plain_retry_into_the_schedules_delay) {
  orders_service s;
  s.on.subscribe(
          "orders",
          [](const order&, millrace::context& ctx) { return ctx.attempt() < 4 ? millrace::retry() : millrace::ack(); })
      .use(retry_with(backoff::exponential(1s, 3s)));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called_once().settled(millrace::retry_after(1s));
  t.advance(1s);
  t.subscription("orders").called(2).settled(millrace::retry_after(2s));
  t.advance(1999ms);
  t.subscription("orders").called(2);
  t.advance(1ms);
  t.subscription("orders").called(3).settled(millrace::retry_after(3s));
  t.advance(3s);
  t.subscription("orders").called(4).settled(millrace::ack());
}

TEST(RetryWith, leaves_other_answers_and_keeps_continuations) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders",
                 [log](const order& o) -> millrace::outcome {
                   if (o.id == 1) return millrace::retry_after(9s);
                   if (o.id == 2) return millrace::drop();
                   return millrace::retry().then([log] { log->push_back("again"); });
                 })
      .use(retry_with(backoff::fixed({1min})));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").settled(millrace::retry_after(9s));
  t.publish("orders", order{2, "tea"});
  t.subscription("orders").settled(millrace::drop());
  t.publish("orders", order{3, "tea"});
  t.subscription("orders").settled(millrace::retry_after(1min));
  EXPECT_EQ(*log, (std::vector<std::string>{"again"}));
}

TEST(RetryWith, by_hand) {
  const auto schedule = backoff::fixed({1s, 2s});
  orders_service s;
  s.on.subscribe("orders", [schedule](const order&, millrace::context& ctx) {
    return millrace::retry_after(schedule.delay(ctx.attempt()));
  });
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.advance(1s);
  t.subscription("orders").called(2).settled(millrace::retry_after(2s));
}

TEST(RetryExceptions, come_again_by_the_schedule_instead_of_the_policy) {
  orders_service s;
  s.on.subscribe("orders", [](const order&) { throw std::runtime_error("broken"); })
      .use(retry_exceptions(backoff::fixed({1s, 5s})));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called_once().settled(millrace::retry_after(1s));
  t.advance(1s);
  t.subscription("orders").called(2).settled(millrace::retry_after(5s));
  t.assert_running();
}

TEST(RetryExceptions, leave_what_does_not_decode_to_its_policy) {
  orders_service s;
  s.on.subscribe("orders", [](const order&) {}).use(retry_exceptions(backoff::fixed({1s})));
  test_service t(s.app);
  t.publish_text("orders", "{}");
  t.subscription("orders").not_called().settled(millrace::drop());
}
