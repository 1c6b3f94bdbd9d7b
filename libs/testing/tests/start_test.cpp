// How a test starts a service, addresses its brokers and ends it. core 2.31; core 3, items 58, 69.
#include <millrace/memory.hpp>
#include <millrace/testing.hpp>

#include "bare_broker.hpp"
#include "orders.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace testing_test {
namespace {

using namespace std::chrono_literals;
using millrace::errc;
using millrace::task;
using millrace::testing::ambiguous_name;
using millrace::testing::publish_failed;
using millrace::testing::start_failed;
using millrace::testing::test_service;
using millrace::testing::unfinished_reaction;
using millrace::testing::unknown_name;
namespace memory = millrace::memory;

using hook_result = millrace::result<void>;

struct books {
  std::string owner;
};

TEST(start, runs_the_production_start_and_shutdown_in_their_order) { // L2
  std::vector<std::string> order_of;
  const auto hook = [&order_of](const char* what) {
    return [&order_of, what]() -> task<hook_result> {
      order_of.emplace_back(what);
      co_return hook_result{};
    };
  };
  millrace::service app{{.title = "hooks"}};
  app.on_startup(hook("on startup")).after_startup(hook("after startup"));
  app.on_shutdown(hook("on shutdown")).after_shutdown(hook("after shutdown"));
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) {});
  {
    test_service t(app);
    EXPECT_EQ(order_of, (std::vector<std::string>{"on startup", "after startup"}));
    EXPECT_TRUE(t.health().healthy());
    t.assert_running();
  }
  EXPECT_EQ(order_of, (std::vector<std::string>{"on startup", "after startup", "on shutdown", "after shutdown"}));
}

TEST(start, handlers_see_the_state_that_the_startup_hook_made) {
  millrace::service<books> app{{.title = "state"}};
  app.on_startup([]() -> task<millrace::result<books>> { co_return books{"Ada"}; });
  auto on = app.with_broker(memory::broker{});
  std::string owner;
  on.subscribe("orders", [&owner](const order&, const books& b) { owner = b.owner; });
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  EXPECT_EQ(owner, "Ada");
}

TEST(start, a_failed_start_throws_the_error_of_the_service) { // L2
  millrace::service app{{.title = "fails"}};
  app.on_startup([]() -> task<hook_result> { co_return millrace::fail(errc::connect, "no database"); });
  const std::string what = thrown<start_failed>([&] { test_service t(app); });
  EXPECT_NE(what.find("startup hook: no database"), std::string::npos) << what;
}

TEST(start, a_failed_start_can_be_answered_instead) {
  millrace::service app{{.title = "fails"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) {}).workers(0);
  const auto started = test_service::start(app);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::invalid_options);
  EXPECT_NE(started.error().message().find("subscription 'orders'"), std::string::npos);
}

TEST(start, a_broker_without_an_in_process_mode_is_named) {
  millrace::service app{{.title = "server only"}};
  static_cast<void>(app.with_broker("far", server_only_broker{}));
  const auto started = test_service::start(app);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::unsupported);
  const std::string what = started.error().message();
  EXPECT_NE(what.find("broker 'far'"), std::string::npos) << what;
  EXPECT_NE(what.find("'server-only://127.0.0.1' has no in-process mode"), std::string::npos) << what;
}

TEST(start, a_start_that_waits_for_nothing_is_an_error) {
  millrace::service app{{.title = "waits"}};
  app.after_startup([]() -> task<hook_result> {
    co_await std::suspend_always{};
    co_return hook_result{};
  });
  const std::string what = thrown<start_failed>([&] { test_service t(app); });
  EXPECT_NE(what.find("start: a task waits for what cannot happen"), std::string::npos) << what;
}

TEST(start, includes_the_reaction_to_what_the_hooks_published) {
  millrace::service app{{.title = "early"}};
  auto on = app.with_broker(memory::broker{});
  auto orders = on.publisher();
  on.subscribe("orders", [](const order&) {});
  app.after_startup([orders]() -> task<hook_result> {
    const order first{1, "tea"};
    auto sent = co_await orders.publish("orders", first);
    if (!sent) co_return millrace::fail(std::move(sent).error());
    co_return hook_result{};
  });
  test_service t(app);
  t.subscription("orders").called_once();
}

TEST(start, a_service_runs_once) {
  millrace::service app{{.title = "twice"}};
  static_cast<void>(app.with_broker(memory::broker{}));
  {
    test_service t(app);
  }
  EXPECT_THROW(test_service t(app), start_failed);
}

class two_brokers : public ::testing::Test {
 protected:
  two_brokers() {
    auto eu = app.with_broker("eu", memory::broker{});
    auto us = app.with_broker("us", memory::broker{"memory-us"});
    eu.subscribe("orders", [](const order&) {});
    us.subscribe("orders", [](const order&) {});
    us.subscribe("billed", [](const order&) {});
    static_cast<void>(app.with_broker(bare_broker{}));
  }
  millrace::service<> app{{.title = "addressing"}};
};

TEST_F(two_brokers, are_addressed_by_label_address_or_type) {
  test_service t(app);
  t.broker("us").publish("orders", order{1, "tea"});
  t.broker("bare").publish_text("elsewhere", "x");
  t.broker<bare_broker>().publish_text("elsewhere", "y");
  t.broker("eu").subscription("orders").not_called();
  t.broker("us").subscription("orders").called_once();
  t.broker("us").published("orders").once();
  t.broker("eu").published("orders").none();
  t.published("orders").once();
  t.published("elsewhere").count(2).with_text("y");
}

TEST_F(two_brokers, that_could_both_be_meant_are_listed) {
  test_service t(app);
  const std::string listed = "'eu' (memory), 'us' (memory-us), 'bare'";
  for (const std::string& what : {thrown<ambiguous_name>([&] { t.publish("orders", order{}); }),
                                  thrown<ambiguous_name>([&] { static_cast<void>(t.request_text("orders", "")); }),
                                  thrown<ambiguous_name>([&] { static_cast<void>(t.broker<memory::broker>()); })}) {
    EXPECT_NE(what.find(listed), std::string::npos) << what;
    EXPECT_NE(what.find("t.broker(\"label\")"), std::string::npos) << what;
  }
}

TEST_F(two_brokers, a_broker_that_is_not_there_is_answered_with_those_that_are) {
  test_service t(app);
  EXPECT_THROW(static_cast<void>(t.broker<server_only_broker>()), unknown_name);
  const std::string what = thrown<unknown_name>([&] { t.broker("asia").publish("orders", order{}); });
  EXPECT_NE(what.find("'asia': none; the service has 'eu' (memory), 'us' (memory-us), 'bare'"), std::string::npos)
      << what;
}

TEST_F(two_brokers, a_subscription_name_that_stands_twice_needs_its_broker) {
  test_service t(app);
  const std::string what = thrown<ambiguous_name>([&] { t.subscription("orders").not_called(); });
  EXPECT_NE(what.find("'orders' on 'eu', 'orders' on 'us', 'billed' on 'us'"), std::string::npos) << what;
  t.subscription("billed").not_called();
  const std::string unknown = thrown<unknown_name>([&] { t.broker("eu").subscription("billed").not_called(); });
  EXPECT_NE(unknown.find("none; there is 'orders' on 'eu'"), std::string::npos) << unknown;
}

TEST(shutdown, answers_what_run_would_and_handles_answer_closed_afterwards) { // L3, L4
  millrace::service app{{.title = "closes"}};
  auto on = app.with_broker(memory::broker{});
  auto held = on.publisher();
  on.subscribe("orders", [](const order&) {});
  test_service t(app);
  EXPECT_TRUE(t.shutdown());
  EXPECT_TRUE(t.shutdown()) << "again";
  EXPECT_EQ(t.health().state, millrace::service_state::stopped);
  EXPECT_THROW(t.assert_running(), millrace::testing::expectation_failed);
  const std::string what = thrown<publish_failed>([&] { t.publish("orders", order{1, "tea"}); });
  EXPECT_NE(what.find("publish to 'orders'"), std::string::npos) << what;
  const auto late = t.broker().try_publish("orders", millrace::as_bytes("{}"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), errc::closed);
}

TEST(shutdown, moves_the_clock_through_its_bounds) {
  millrace::service app{{.title = "slow"}};
  app.shutdown_timeout(30s);
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&, millrace::context& ctx) -> task<void> { co_await ctx.sleep_for(1h); });
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  const auto before = t.runtime().now();
  EXPECT_TRUE(t.shutdown());
  EXPECT_EQ(t.runtime().now(), before + 30s);
  t.subscription("orders").called_once().left_unsettled().assert_outcome(millrace::testing::outcome_kind::unsettled);
}

TEST(shutdown, tells_of_handlers_that_it_had_to_leave) {
  millrace::service app{{.title = "stuck"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) -> task<void> { co_await std::suspend_always{}; });
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  const auto stopped = t.shutdown();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error(), errc::shutdown);
}

TEST(shutdown, a_service_that_asked_to_be_stopped_is_not_running) {
  millrace::service app{{.title = "asks"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&, millrace::context& ctx) { ctx.stop_service(); });
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  const std::string what = thrown<millrace::testing::expectation_failed>([&] { t.assert_running(); });
  EXPECT_EQ(what, "expected a running service, but it asked to be stopped");
  EXPECT_FALSE(t.failure());
  EXPECT_TRUE(t.shutdown());
}

TEST(shutdown, a_test_service_can_be_moved) {
  millrace::service first{{.title = "first"}};
  millrace::service second{{.title = "second"}};
  auto on = second.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) {});
  test_service t(first);
  test_service other(second);
  t = std::move(other);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called_once();
}

TEST(request, is_answered_and_drives_the_clock_if_it_must) {
  millrace::service app{{.title = "answers"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("double", [](const order& o, millrace::context& ctx) -> task<order> {
      co_await ctx.sleep_for(2s);
      co_return order{o.id * 2, o.item};
    }).reply_to_sender();
  test_service t(app);
  const auto before = t.runtime().now();
  const auto answer = t.request("double", order{21, "tea"}, 5s);
  EXPECT_EQ(answer.as<order>(), (order{42, "tea"}));
  EXPECT_EQ(answer.text(), R"({"id":42,"item":"tea"})");
  EXPECT_EQ(t.runtime().now(), before + 2s);
  t.published("double").once().with(order{21, "tea"});
  EXPECT_THROW(static_cast<void>(answer.as<int>()), millrace::testing::expectation_failed);
}

TEST(request, without_an_answer_fails_with_the_reason) {
  millrace::service app{{.title = "silent"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("silent", [](const order&) {});
  test_service t(app);
  const auto nobody = t.broker().try_request("nowhere", {}, 5s);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error(), errc::publish);
  const auto before = t.runtime().now();
  const auto late = t.broker().try_request("silent", millrace::as_bytes(R"({"id":1,"item":"tea"})"), 5s);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), errc::timeout);
  EXPECT_EQ(t.runtime().now(), before + 5s);
  EXPECT_THROW(static_cast<void>(t.request("silent", order{1, "tea"})), millrace::testing::request_failed);
}

} // namespace
} // namespace testing_test
