#include "delivery_types.hpp"

#include <millrace/resilience/circuit_breaker.hpp>

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>

using namespace delivery;
using millrace::resilience::circuit;
using millrace::resilience::circuit_breaker;

namespace {

/// Fails while `broken` is set; slow orders take an hour.
struct dependency {
  explicit dependency(circuit_breaker breaker) : guard(std::move(breaker)) {
    s.on.subscribe("orders",
                   [this](const order& o, millrace::context& ctx) -> millrace::task<millrace::outcome> {
                     ++calls;
                     const bool fails = *broken;
                     if (o.item == "slow") co_await ctx.sleep_for(1h);
                     if (fails && o.item == "throw") throw std::runtime_error("down");
                     if (fails) co_return millrace::retry_after(24h);
                     co_return millrace::ack();
                   })
        .use(guard)
        .workers(8)
        .on_exception(millrace::failure_policy::retry_after(24h));
  }
  std::shared_ptr<bool> broken = std::make_shared<bool>(true);
  int calls = 0;
  circuit_breaker guard;
  orders_service s;
};

circuit_breaker three_in_ten_seconds(std::uint32_t probes = 1) {
  return circuit_breaker({.failures = 3, .window = 10s, .open_for = 30s, .half_open_probes = probes});
}

void publish(test_service& t, int n, const char* item = "tea") {
  for (int i = 0; i < n; ++i)
    t.publish("orders", order{i, item});
}

} // namespace

TEST(CircuitBreaker, opens_after_failures_and_answers_the_time_that_is_left) {
  dependency d(three_in_ten_seconds());
  test_service t(d.s.app);
  publish(t, 1);
  publish(t, 1, "throw");
  EXPECT_EQ(d.guard.state(), circuit::closed);
  publish(t, 1);
  EXPECT_EQ(d.guard.state(), circuit::open);
  EXPECT_EQ(d.guard.times_opened(), 1U);
  EXPECT_EQ(d.calls, 3);
  t.advance(12s);
  publish(t, 1);
  EXPECT_EQ(d.calls, 3);
  t.subscription("orders").settled(millrace::retry_after(18s));
}

TEST(CircuitBreaker, a_message_that_was_refused_is_the_probe_when_it_comes_back) {
  dependency d(three_in_ten_seconds());
  test_service t(d.s.app);
  publish(t, 4);
  EXPECT_EQ(d.calls, 3);
  *d.broken = false;
  t.advance(30s);
  EXPECT_EQ(d.calls, 4);
  EXPECT_EQ(d.guard.state(), circuit::closed);
  t.subscription("orders").settled(millrace::ack());
}

TEST(CircuitBreaker, failures_outside_the_window_do_not_count_together) {
  dependency d(three_in_ten_seconds());
  test_service t(d.s.app);
  publish(t, 2);
  t.advance(10s + 1ns);
  publish(t, 1);
  EXPECT_EQ(d.guard.state(), circuit::closed);
  t.advance(10s);
  publish(t, 1);
  EXPECT_EQ(d.guard.state(), circuit::closed);
  publish(t, 1); // the third within exactly ten seconds
  EXPECT_EQ(d.guard.state(), circuit::open);
}

TEST(CircuitBreaker, successes_do_not_hide_failures) {
  dependency d(three_in_ten_seconds());
  test_service t(d.s.app);
  publish(t, 2);
  *d.broken = false;
  publish(t, 100);
  *d.broken = true;
  publish(t, 1);
  EXPECT_EQ(d.guard.state(), circuit::open);
}

TEST(CircuitBreaker, a_probe_that_fails_opens_it_again) {
  dependency d(three_in_ten_seconds());
  test_service t(d.s.app);
  publish(t, 3);
  t.advance(30s);
  publish(t, 1);
  EXPECT_EQ(d.calls, 4);
  EXPECT_EQ(d.guard.state(), circuit::open);
  EXPECT_EQ(d.guard.times_opened(), 2U);
  publish(t, 1);
  t.subscription("orders").settled(millrace::retry_after(30s));
}

TEST(CircuitBreaker, half_open_lets_so_many_through_and_all_must_succeed) {
  dependency d(three_in_ten_seconds(2));
  test_service t(d.s.app);
  publish(t, 3);
  t.advance(30s);
  *d.broken = false;
  publish(t, 2, "slow");
  EXPECT_EQ(d.guard.state(), circuit::half_open);
  publish(t, 1);
  EXPECT_EQ(d.calls, 5); // no probe was free
  t.subscription("orders").settled(millrace::retry_after(1s));
  t.advance(1h);
  EXPECT_EQ(d.guard.state(), circuit::closed);
}

TEST(CircuitBreaker, answers_from_before_a_change_count_as_nothing) {
  dependency d(three_in_ten_seconds());
  test_service t(d.s.app);
  publish(t, 1, "slow"); // it will fail in an hour
  publish(t, 3);
  *d.broken = false;
  t.advance(30s);
  publish(t, 1, "slow"); // the probe, which will succeed in an hour
  EXPECT_EQ(d.guard.state(), circuit::half_open);
  t.advance(59min + 59s);
  EXPECT_EQ(d.guard.state(), circuit::half_open);
  t.advance(31s);
  EXPECT_EQ(d.guard.state(), circuit::closed);
}

TEST(CircuitBreaker, what_does_not_decode_is_no_failure) {
  dependency d(three_in_ten_seconds());
  test_service t(d.s.app);
  for (int i = 0; i < 5; ++i)
    t.publish_text("orders", "{}");
  EXPECT_EQ(d.guard.state(), circuit::closed);
}

TEST(CircuitBreaker, a_probe_that_does_not_decode_gives_its_place_back) {
  dependency d(three_in_ten_seconds());
  test_service t(d.s.app);
  publish(t, 3);
  t.advance(30s);
  t.publish_text("orders", "{}");
  EXPECT_EQ(d.guard.state(), circuit::half_open);
  *d.broken = false;
  publish(t, 1);
  EXPECT_EQ(d.guard.state(), circuit::closed);
}

TEST(CircuitBreaker, tells_of_every_change_and_registrations_can_share_it) {
  orders_service s;
  auto log = make_log();
  circuit_breaker guard({.failures = 1, .window = 1s, .open_for = 1s, .half_open_probes = 1});
  guard.on_change([log](circuit now) {
    constexpr const char* names[] = {"closed", "open", "half open"};
    log->push_back(names[static_cast<int>(now)]);
  });
  s.on.subscribe("fails", [](const order&) { return millrace::retry_after(24h); }).use(guard);
  s.on.subscribe("works", [](const order&) {}).use(guard);
  test_service t(s.app);
  t.publish("fails", order{1, "tea"});
  t.publish("works", order{1, "tea"});
  t.subscription("works").settled(millrace::retry_after(1s));
  t.advance(1s);
  t.subscription("works").settled(millrace::ack());
  EXPECT_EQ(*log, (std::vector<std::string>{"open", "half open", "closed"}));
}
