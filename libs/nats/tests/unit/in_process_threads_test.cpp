#include "unit/in_process_client.hpp"

#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace millrace::nats::detail::testing {
namespace {

using namespace std::chrono_literals;

/// Counts, from any thread; answers when `limit` came.
struct counter final : receiver {
  explicit counter(std::ptrdiff_t limit) : all(limit) {}
  void on_message(received m, bool /*more*/) noexcept override {
    EXPECT_FALSE(inside.exchange(true)); // one call at a time
    sum.fetch_add(m.payload().size());
    if (act) act(m);
    inside = false;
    all.count_down();
  }
  void on_dropped(std::uint64_t) noexcept override {}
  std::latch all;
  std::atomic<std::size_t> sum{0};
  std::atomic<bool> inside{false};
  std::function<void(const received&)> act;
};

constexpr int threads = 4;
constexpr int each = 500;

void publish_from_threads(client& c, std::string_view subject) {
  std::vector<std::jthread> publishers;
  for (int t = 0; t < threads; ++t)
    publishers.emplace_back([&c, subject] {
      for (int i = 0; i < each; ++i)
        EXPECT_TRUE(c.publish(subject, "x"));
    });
}

TEST(in_process_threads, every_message_reaches_one_call_at_a_time) {
  pool_runtime rt(2);
  client c(rt);
  counter in(threads * each);
  const auto subscription = c->subscribe("a", "", in, 0).value();
  publish_from_threads(c, "a");
  in.all.wait();
  EXPECT_EQ(in.sum, static_cast<std::size_t>(threads * each));
  EXPECT_EQ(c->counters().messages_received, static_cast<std::uint64_t>(threads * each));
}

TEST(in_process_threads, a_consumer_gives_each_message_once) { // nats 3
  pool_runtime rt(2);
  client c(rt);
  ASSERT_TRUE(
      c.request("$JS.API.CONSUMER.DURABLE.CREATE.S.d",
                R"({"stream_name":"S","config":{"durable_name":"d","filter_subject":"s","ack_policy":"explicit"}})")
          .contains("durable_name"));
  counter in(threads * each);
  in.act = [&c](const received& m) { EXPECT_TRUE(c.publish(m.reply(), "+ACK")); };
  const auto subscription = c->subscribe("in", "", in, 0).value();
  ASSERT_TRUE(c.publish("$JS.API.CONSUMER.MSG.NEXT.S.d", R"({"batch":100000,"expires":60000000000})", "in"));
  publish_from_threads(c, "s");
  in.all.wait();
  EXPECT_TRUE(c.request("$JS.API.CONSUMER.INFO.S.d").contains(R"("num_ack_pending":0)"));
  EXPECT_EQ(in.sum, static_cast<std::size_t>(threads * each));
}

TEST(in_process_threads, stop_waits_for_the_call_on_another_thread) {
  pool_runtime rt(2);
  client c(rt);
  counter in(1);
  std::latch entered(1);
  std::latch leave(1);
  std::atomic<bool> left{false};
  in.act = [&](const received&) {
    entered.count_down();
    leave.wait();
    left = true;
  };
  const auto subscription = c->subscribe("a", "", in, 0).value();
  const std::jthread publisher([&c] { EXPECT_TRUE(c.publish("a", "x")); });
  entered.wait();
  const std::jthread releaser([&leave] { leave.count_down(); });
  sync_wait(subscription->stop(10s));
  EXPECT_TRUE(left);
}

TEST(in_process_threads, timers_fire_on_the_runtime) { // nats 3.2
  pool_runtime rt(2);
  client c(rt);
  ASSERT_TRUE(
      c.request("$JS.API.CONSUMER.DURABLE.CREATE.S.d",
                R"({"stream_name":"S","config":{"durable_name":"d","filter_subject":"s","ack_policy":"explicit"}})")
          .contains("durable_name"));
  counter in(1);
  const auto subscription = c->subscribe("in", "", in, 0).value();
  ASSERT_TRUE(c.publish("$JS.API.CONSUMER.MSG.NEXT.S.d", R"({"batch":1,"expires":5000000})", "in"));
  in.all.wait(); // the expiry
}

TEST(in_process_threads, close_races_publish) { // nats 12.45
  pool_runtime rt(2);
  client c(rt);
  std::atomic<std::uint64_t> sent{0};
  {
    std::vector<std::jthread> publishers;
    for (int t = 0; t < threads; ++t)
      publishers.emplace_back([&] {
        while (c.publish("a", "x"))
          sent.fetch_add(1);
      });
    EXPECT_TRUE(sync_wait(c->close(10s)));
  }
  EXPECT_EQ(c->counters().messages_sent, sent);
}

} // namespace
} // namespace millrace::nats::detail::testing
