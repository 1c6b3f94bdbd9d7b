// core 2.11, 3.18-3.22, 3.28: caps and dead letters on a broker that delays and counts by itself.
#include "fixture.hpp"

using namespace memory_test;

struct attempts : service_on_memory {
  explicit attempts(memory::broker configured = memory::broker{}) : service_on_memory(std::move(configured)) {}
  std::vector<std::uint32_t> seen;
  struct letter {
    std::string payload;
    std::string trace;
    std::string count;
  };
  std::vector<letter> dead;

  registration& always(std::function<outcome()> answer) {
    return on.subscribe("orders", [this, answer](bytes_view, context& ctx) {
      seen.push_back(ctx.attempt());
      return answer();
    });
  }
  void watch_dead_letters() {
    on.subscribe("orders.dead", [this](bytes_view payload, context& ctx) {
      dead.push_back({std::string(as_text(payload)), std::string(ctx.headers().get("trace").value_or("")),
                      std::string(ctx.headers().get(retry_count_header).value_or("none"))});
    });
  }
};

// core 3.18
TEST_F(attempts, n_calls_and_then_one_dead_letter_as_it_arrived) {
  always(retry).max_attempts(3).dead_letter("orders.dead");
  watch_dead_letters();
  start();
  publish("orders", "a", headers_of("trace", "t1"));
  advance(1h);
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{1, 2, 3}));
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].payload, "a");
  EXPECT_EQ(dead[0].trace, "t1");
  EXPECT_EQ(dead[0].count, "none"); // nothing of ours is added
}
// core 3.20: immediate and delayed retries share one count.
TEST_F(attempts, immediate_and_delayed_retries_share_one_count) {
  on.subscribe("orders",
               [this](bytes_view, context& ctx) {
                 seen.push_back(ctx.attempt());
                 return ctx.attempt() % 2 == 0 ? retry() : retry_after(5s);
               })
      .max_attempts(4)
      .dead_letter("orders.dead");
  watch_dead_letters();
  start();
  publish("orders", "a");
  advance(1h);
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(dead.size(), 1U);
}
// core 3.20: the broker counts; a header of the same name is not believed.
TEST_F(attempts, the_brokers_count_wins_over_the_header) {
  always(retry).max_attempts(2);
  start();
  publish("orders", "a", headers_of(retry_count_header, "7"));
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{1, 2}));
}
TEST_F(attempts, one_attempt_means_no_retry) {
  always(retry).max_attempts(1).dead_letter("orders.dead");
  watch_dead_letters();
  start();
  publish("orders", "a");
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_EQ(dead.size(), 1U);
}
// core 3.19
TEST_F(attempts, without_a_dead_letter_the_message_is_rejected_with_a_warning) {
  always(retry).named("billing").max_attempts(2);
  start();
  publish("orders", "a");
  advance(1h);
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(log.count(log_level::warning, "'billing'", "rejected"), 1U);
}
TEST_F(attempts, a_retry_of_a_policy_is_capped_too) {
  on.subscribe("orders",
               [this](bytes_view, context& ctx) {
                 seen.push_back(ctx.attempt());
                 throw std::runtime_error("no");
               })
      .on_exception(failure_policy::retry())
      .max_attempts(3)
      .dead_letter("orders.dead");
  watch_dead_letters();
  start();
  publish("orders", "a");
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(dead.size(), 1U);
}
TEST_F(attempts, a_drop_is_no_dead_letter) {
  always(drop).max_attempts(3).dead_letter("orders.dead");
  watch_dead_letters();
  start();
  publish("orders", "a");
  EXPECT_TRUE(dead.empty());
}

struct attempts_when_full : attempts {
  attempts_when_full() : attempts(memory::broker{}.queue_limit(2)) {}
};
// core 3.28: what cannot be dead-lettered stays with the broker until it can.
TEST_F(attempts_when_full, a_dead_letter_that_finds_no_room_does_not_lose_the_message) {
  bool reading = false;
  on.subscribe(memory::topic("orders.dead").window(1), [&](bytes_view payload, context& ctx) -> task<outcome> {
    while (!reading)
      co_await ctx.sleep_for(1s);
    dead.push_back({std::string(as_text(payload)), "", ""});
    co_return ack();
  });
  always(retry).max_attempts(2).dead_letter("orders.dead");
  start();
  publish("orders.dead", "old 1");
  publish("orders.dead", "old 2");
  publish("orders", "a");
  advance(5s);
  EXPECT_GE(log.count(log_level::warning, "'orders'", "the dead letter was not published"), 2U);
  EXPECT_GE(seen.size(), 3U);
  reading = true;
  advance(10s);
  ASSERT_EQ(dead.size(), 3U);
  EXPECT_EQ(dead[2].payload, "a");
  const std::size_t calls = seen.size();
  advance(1h);
  EXPECT_EQ(seen.size(), calls); // it ended
}
