// core 2.31: a publish returns when the entire reaction is over; only `advance` moves the clock. core 3, items 24, 68.
#include <millrace/event.hpp>
#include <millrace/memory.hpp>
#include <millrace/testing.hpp>

#include "bare_broker.hpp"
#include "orders.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace testing_test {
namespace {

using namespace std::chrono_literals;
using millrace::ack;
using millrace::outcome;
using millrace::retry_after;
using millrace::task;
using millrace::testing::outcome_kind;
using millrace::testing::test_service;
using millrace::testing::unfinished_reaction;
namespace memory = millrace::memory;

using publisher = millrace::publisher<memory::publish>;

task<outcome> forward(publisher to, std::string destination, order o) {
  auto sent = co_await to.publish(destination, o);
  if (!sent) co_return millrace::retry();
  co_return ack();
}

task<void> send(publisher to) {
  const order first{1, "tea"};
  auto sent = co_await to.publish("orders", first);
  if (!sent) throw std::runtime_error(sent.error().message());
}

TEST(reaction, a_publish_waits_for_a_cascade_of_depth_3_over_two_brokers) {
  millrace::service app{{.title = "cascade"}};
  auto eu = app.with_broker("eu", memory::broker{});
  auto us = app.with_broker("us", memory::broker{});
  auto to_eu = eu.publisher();
  auto to_us = us.publisher();
  eu.subscribe("orders", [to_us](const order& o) { return forward(to_us, "billed", order{o.id + 1, o.item}); });
  us.subscribe("billed", [to_eu](const order& o) { return forward(to_eu, "shipped", order{o.id + 1, o.item}); });
  eu.subscribe("shipped", [](const order&) {});

  test_service t(app);
  t.broker("eu").publish("orders", order{1, "tea"});
  t.subscription("orders").called_once().with(order{1, "tea"}).settled(ack());
  t.subscription("billed").called_once().with(order{2, "tea"}).settled(ack());
  t.subscription("shipped").called_once().with(order{3, "tea"}).settled(ack());
  t.broker("us").published("billed").once().with(order{2, "tea"});
  t.broker("eu").published("billed").none();
  t.published("shipped").once();
}

TEST(reaction, a_delayed_retry_comes_only_with_the_clock) {
  millrace::service app{{.title = "delays"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders",
               [](const order&, millrace::context& ctx) { return ctx.attempt() == 1 ? retry_after(5s) : ack(); });
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called_once().settled(retry_after(5s)).assert_outcome(outcome_kind::nack_after).attempts(1);
  t.advance(4999ms);
  t.subscription("orders").called_once();
  t.advance(1ms);
  t.subscription("orders").called(2).settled(ack()).attempts(2);
}

TEST(reaction, where_the_transport_has_no_delay_the_copy_comes_with_the_clock_too) {
  millrace::service app{{.title = "copies"}};
  auto on = app.with_broker(bare_broker{});
  on.subscribe("orders",
               [](const order&, millrace::context& ctx) { return ctx.attempt() == 1 ? retry_after(5s) : ack(); });
  test_service t(app);
  t.publish("orders", order{1, "tea"}, millrace::testing::headers({{"tenant", "eu"}}));
  t.subscription("orders").called_once().header("tenant", "eu");
  t.published("orders").once();
  t.advance(5s);
  t.subscription("orders").called(2).attempts(2).header("tenant", "eu").header(millrace::retry_count_header, "1");
  t.published("orders").count(2).header(millrace::retry_count_header, "1");
}

TEST(reaction, a_copy_without_a_delay_belongs_to_the_same_reaction) {
  millrace::service app{{.title = "copies at once"}};
  auto on = app.with_broker(bare_broker{});
  on.subscribe("orders",
               [](const order&, millrace::context& ctx) { return ctx.attempt() < 3 ? retry_after(0s) : ack(); });
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called(3).settled(ack());
}

TEST(reaction, settle_runs_what_a_publisher_of_the_service_started) {
  millrace::service app{{.title = "bare publisher"}};
  auto on = app.with_broker(memory::broker{});
  auto orders = on.publisher();
  on.subscribe("orders", [](const order&) {});
  test_service t(app);
  millrace::task_group group(t.runtime());
  group.spawn(send(orders), "a publish");
  t.subscription("orders").not_called();
  t.settle();
  t.subscription("orders").called_once();
  t.published("orders").once();
}

TEST(reaction, drive_runs_a_coroutine_of_the_test_and_its_reaction) {
  millrace::service app{{.title = "driven"}};
  auto on = app.with_broker(memory::broker{});
  auto orders = on.publisher();
  on.subscribe("orders", [](const order&) {});
  test_service t(app);
  const auto sent = t.drive([](publisher to) -> task<millrace::result<millrace::receipt>> {
    const order first{1, "tea"};
    auto accepted = co_await to.publish("orders", first);
    co_return accepted;
  }(orders));
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->sequence, 1U);
  t.subscription("orders").called_once();
}

/// Marks what the service publishes.
class marking final : public millrace::publish_layer {
 public:
  task<millrace::result<millrace::receipt>> around(millrace::publish_draft& draft,
                                                   millrace::next_publish next) override {
    draft.headers().set("from", "the service");
    auto sent = co_await next();
    co_return sent;
  }
};

TEST(reaction, the_publish_layers_of_the_service_are_not_for_what_the_test_sends) {
  millrace::service app{{.title = "layers"}};
  app.use(marking{});
  auto on = app.with_broker(memory::broker{});
  auto to = on.publisher();
  on.subscribe("orders", [to](const order& o) { return forward(to, "billed", o); });
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  EXPECT_TRUE(t.published("orders").once().messages().front().headers.empty());
  t.published("billed").once().header("from", "the service");
}

TEST(reaction, a_loop_that_feeds_itself_ends_in_an_error_that_names_it) {
  millrace::service app{{.title = "loop"}};
  auto on = app.with_broker(memory::broker{});
  auto again = on.publisher();
  on.subscribe("loop", [again](const order& o) { return forward(again, "loop", o); });
  test_service t(app, millrace::testing::in_process{.limit = 1000});
  const std::string what = thrown<unfinished_reaction>([&] { t.publish("loop", order{1, "tea"}); });
  EXPECT_NE(what.find("the reaction does not end: more than 1000 messages"), std::string::npos) << what;
  EXPECT_NE(what.find("'loop'"), std::string::npos) << what;
  EXPECT_TRUE(t.shutdown());
}

TEST(reaction, a_message_that_is_retried_for_ever_ends_in_an_error) {
  millrace::service app{{.title = "poison"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) { return millrace::retry(); });
  test_service t(app, millrace::testing::in_process{.limit = 1000});
  const std::string what = thrown<unfinished_reaction>([&] { t.publish("orders", order{1, "tea"}); });
  EXPECT_NE(what.find("subscription 'orders'"), std::string::npos) << what;
}

/// Awaits an answer that another thread brings.
class outside_work {
 public:
  outside_work(millrace::runtime& rt, std::vector<std::jthread>& threads) : rt_(&rt), threads_(&threads) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    resume_.waiter = waiter;
    rt_->external_begin();
    threads_->emplace_back([rt = rt_, resume = &resume_] {
      rt->post(*resume);
      rt->external_end();
    });
  }
  void await_resume() const noexcept {}

 private:
  struct resume_job : millrace::job {
    resume_job() : job([](job& j) noexcept { static_cast<resume_job&>(j).waiter.resume(); }) {}
    std::coroutine_handle<> waiter;
  };
  millrace::runtime* rt_;
  std::vector<std::jthread>* threads_;
  resume_job resume_;
};

TEST(reaction, foreign_work_between_external_begin_and_end_is_waited_for) {
  std::vector<std::jthread> threads;
  millrace::service app{{.title = "foreign"}};
  auto on = app.with_broker(memory::broker{});
  auto done = on.publisher();
  on.subscribe("orders", [&threads, done](const order& o, millrace::context& ctx) -> task<outcome> {
    co_await outside_work(ctx.runtime(), threads);
    auto sent = co_await done.publish("done", o);
    if (!sent) co_return millrace::drop();
    co_return ack();
  });
  on.subscribe("done", [](const order&) {});
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called_once().settled(ack());
  t.subscription("done").called_once();
}

TEST(reaction, foreign_work_that_does_not_end_is_an_error) {
  millrace::service app{{.title = "stuck"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&, millrace::context& ctx) { ctx.runtime().external_begin(); });
  test_service t(app, millrace::testing::in_process{.external_bound = 1ms});
  const std::string what = thrown<unfinished_reaction>([&] { t.publish("orders", order{1, "tea"}); });
  EXPECT_NE(what.find("outside work did not end within 1 ms"), std::string::npos) << what;
  t.runtime().external_end();
  t.settle();
}

TEST(reaction, a_handler_that_sleeps_waits_for_advance) {
  millrace::service app{{.title = "sleeper"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&, millrace::context& ctx) -> task<outcome> {
    co_await ctx.sleep_for(2s);
    co_return ack();
  });
  test_service t(app);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").not_called();
  t.advance(2s);
  t.subscription("orders").called_once();
}

} // namespace
} // namespace testing_test
