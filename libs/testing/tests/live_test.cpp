// The same service on real threads and the real clock. core 2.31; core 3, item 69.
#include <millrace/memory.hpp>
#include <millrace/testing.hpp>

#include "bare_broker.hpp"
#include "orders.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace testing_test {
namespace {

using namespace std::chrono_literals;
using millrace::ack;
using millrace::errc;
using millrace::outcome;
using millrace::task;
using millrace::testing::live;
using millrace::testing::test_service;
using millrace::testing::wait_timed_out;
namespace memory = millrace::memory;

class live_threads : public ::testing::TestWithParam<unsigned> {};

TEST_P(live_threads, wait_for_returns_when_the_calls_are_recorded) {
  millrace::service app{{.title = "live"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&, millrace::context& ctx) -> task<outcome> {
    co_await ctx.sleep_for(1ms);
    if (ctx.attempt() == 1) co_return millrace::retry_after(1ms);
    co_return ack();
  });
  test_service t(app, live{.threads = GetParam()});
  for (std::uint64_t i = 0; i < 20; ++i)
    t.publish("orders", order{i, "tea"});
  t.wait_for("orders", 40);
  t.subscription("orders").called(40).settled(ack()).attempts(2);
  t.published("orders").count(20);
  t.wait_for_published("orders", 20);
  EXPECT_TRUE(t.shutdown());
}

TEST_P(live_threads, a_request_is_answered) {
  millrace::service app{{.title = "live"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("double", [](const order& o) { return order{o.id * 2, o.item}; }).reply_to_sender();
  test_service t(app, live{.threads = GetParam()});
  EXPECT_EQ(t.request("double", order{21, "tea"}).as<order>(), (order{42, "tea"}));
}

INSTANTIATE_TEST_SUITE_P(threads, live_threads, ::testing::Values(0U, 1U, 2U));

TEST(live_mode, the_bound_names_the_subscription_that_was_awaited) {
  millrace::service app{{.title = "live"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) {});
  test_service t(app, live{.bound = 10ms});
  t.publish("orders", order{1, "tea"});
  const std::string what = thrown<wait_timed_out>([&] { t.wait_for("orders", 2); });
  EXPECT_NE(what.find("subscription 'orders': awaited 2 calls, there are 1; waited 10ms"), std::string::npos) << what;
}

TEST(live_mode, a_service_that_fails_is_not_waited_for) {
  millrace::service app{{.title = "live"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) { throw std::runtime_error("broken"); });
  test_service t(app, live{.bound = 1h});
  t.publish("orders", order{1, "tea"});
  const std::string what = thrown<wait_timed_out>([&] { t.wait_for("orders", 2); });
  EXPECT_NE(what.find("the service failed: "), std::string::npos) << what;
  EXPECT_NE(what.find("broken"), std::string::npos) << what;
  EXPECT_FALSE(t.shutdown());
}

TEST(live_mode, needs_no_in_process_mode_and_advance_really_waits) {
  millrace::service app{{.title = "live"}};
  auto on = app.with_broker(server_only_broker{});
  on.subscribe("orders", [](const order&) {});
  test_service t(app, live{});
  const auto before = std::chrono::steady_clock::now();
  t.advance(20ms);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);
  t.publish("orders", order{1, "tea"});
  t.wait_for("orders", 1);
  t.subscription("orders").with(order{1, "tea"});
}

TEST(live_mode, cannot_compute_quiescence_and_says_so) {
  millrace::service app{{.title = "live"}};
  static_cast<void>(app.with_broker(memory::broker{}));
  test_service t(app, live{});
  const std::string what = thrown<millrace::testing::harness_error>([&] { t.settle(); });
  EXPECT_NE(what.find("wait_for"), std::string::npos) << what;
}

TEST(live_mode, a_failed_start_throws) {
  millrace::service app{{.title = "live"}};
  app.on_startup([]() -> task<millrace::result<void>> { co_return millrace::fail(errc::connect, "no database"); });
  EXPECT_THROW(test_service(app, live{}), millrace::testing::start_failed);
}

TEST(in_process_mode, wait_for_knows_at_once) {
  millrace::service app{{.title = "in process"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) {});
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  t.wait_for("orders", 1);
  const std::string what = thrown<wait_timed_out>([&] { t.wait_for("orders", 2); });
  EXPECT_NE(what.find("awaited 2 calls, there are 1; the service is quiescent"), std::string::npos) << what;
}

} // namespace
} // namespace testing_test
