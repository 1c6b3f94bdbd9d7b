#include "delivery_types.hpp"

#include <millrace/resilience/rate_limit.hpp>

#include <gtest/gtest.h>
#include <stdexcept>

using namespace delivery;
using millrace::resilience::rate_limit;

namespace {

struct limited {
  limited(rate_limit limit, unsigned workers) {
    s.on.subscribe("orders", [this](const order& o) { handled.push_back(o.id); }).use(limit).workers(workers);
  }
  void publish(test_service& t, int n) {
    for (int i = 0; i < n; ++i)
      t.publish("orders", order{++published, "tea"});
  }
  int published = 0;
  std::vector<int> handled;
  orders_service s;
};

} // namespace

TEST(RateLimit, lets_the_burst_through_and_then_one_an_interval) {
  limited l(rate_limit(10, 3), 8);
  test_service t(l.s.app);
  l.publish(t, 6);
  EXPECT_EQ(l.handled.size(), 3U);
  t.advance(99ms);
  EXPECT_EQ(l.handled.size(), 3U);
  t.advance(1ms);
  EXPECT_EQ(l.handled.size(), 4U);
  t.advance(200ms);
  EXPECT_EQ(l.handled, (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST(RateLimit, a_pause_brings_the_burst_back_and_no_more) {
  limited l(rate_limit(10, 3), 8);
  test_service t(l.s.app);
  l.publish(t, 3);
  t.advance(1h);
  l.publish(t, 5);
  EXPECT_EQ(l.handled.size(), 6U);
  t.advance(100ms);
  EXPECT_EQ(l.handled.size(), 7U);
}

TEST(RateLimit, a_short_pause_brings_a_part_of_it_back) {
  limited l(rate_limit(10, 3), 8);
  test_service t(l.s.app);
  l.publish(t, 3);
  t.advance(150ms);
  l.publish(t, 2);
  EXPECT_EQ(l.handled.size(), 4U);
  t.advance(50ms);
  EXPECT_EQ(l.handled.size(), 5U);
}

TEST(RateLimit, over_a_long_time_the_rate_is_exact) {
  limited l(rate_limit(4, 1), 1);
  test_service t(l.s.app);
  l.publish(t, 200);
  t.advance(10s);
  EXPECT_EQ(l.handled.size(), 41U); // one at once, then four a second
}

TEST(RateLimit, may_be_slower_than_one_a_second) {
  limited l(rate_limit(0.5, 1), 4);
  test_service t(l.s.app);
  l.publish(t, 2);
  t.advance(1999ms);
  EXPECT_EQ(l.handled.size(), 1U);
  t.advance(1ms);
  EXPECT_EQ(l.handled.size(), 2U);
}

TEST(RateLimit, is_shared_by_copies) {
  const rate_limit limit(1, 1);
  orders_service s;
  s.on.subscribe("a", [](const order&) {}).use(limit);
  s.on.subscribe("b", [](const order&) {}).use(limit);
  test_service t(s.app);
  t.publish("a", order{1, "tea"});
  t.publish("b", order{1, "tea"});
  t.subscription("b").not_called();
  t.advance(1s);
  t.subscription("b").called_once();
}

TEST(RateLimit, a_stop_leaves_the_message_that_waits_unsettled) {
  limited l(rate_limit(0.001, 1), 1);
  test_service t(l.s.app);
  l.publish(t, 2);
  static_cast<void>(t.shutdown());
  EXPECT_EQ(l.handled, (std::vector<int>{1}));
  t.subscription("orders").left_unsettled();
}

TEST(RateLimit, refuses_what_is_no_rate) {
  EXPECT_THROW(rate_limit(0, 1), std::invalid_argument);
  EXPECT_THROW(rate_limit(-1, 1), std::invalid_argument);
  EXPECT_THROW(rate_limit(1, 0), std::invalid_argument);
}
