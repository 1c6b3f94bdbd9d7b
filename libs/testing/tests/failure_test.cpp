// What the record says of failures. core 2.12; core 3, items 8, 9, 13, 14, 18, 19, 61.
#include <millrace/memory.hpp>
#include <millrace/testing.hpp>

#include "orders.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace testing_test {
namespace {

using millrace::ack;
using millrace::drop;
using millrace::errc;
using millrace::failure_policy;
using millrace::testing::expectation_failed;
using millrace::testing::outcome_kind;
using millrace::testing::test_service;
namespace memory = millrace::memory;

millrace::task<void> publish_three(millrace::publisher<memory::publish> to) {
  for (std::uint64_t id = 1; id <= 3; ++id) {
    const order next{id, "tea"};
    auto sent = co_await to.publish("orders", next);
    if (!sent) throw std::runtime_error(sent.error().message());
  }
}

void reject(const order&) { throw std::runtime_error("the handler is broken"); }

TEST(failures, a_payload_that_does_not_decode_is_no_call) {
  millrace::service app{{.title = "decode"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) {});
  on.subscribe("skipping", [](const order&) {}).on_undecodable(failure_policy::skip());
  test_service t(app);
  t.publish_text("orders", R"({"id":"one"})");
  t.subscription("orders").not_called().settled(drop()).assert_outcome(outcome_kind::decode_failure);
  EXPECT_NE(t.subscription("orders").deliveries().front().failure_text.find("id"), std::string::npos);
  t.publish_bytes("skipping", millrace::as_bytes("]"));
  t.subscription("skipping").not_called().settled(ack()).assert_outcome(outcome_kind::decode_failure);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called_once().settled(ack());
  t.assert_running();
}

TEST(failures, an_exception_under_fail_fast_leaves_the_message_and_stops_the_service) {
  millrace::service app{{.title = "fails fast"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", reject);
  test_service t(app);
  EXPECT_FALSE(t.failure());
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called_once().left_unsettled().assert_outcome(outcome_kind::exception);
  ASSERT_TRUE(t.failure());
  EXPECT_EQ(*t.failure(), errc::handler);
  const std::string why = t.failure()->message();
  EXPECT_NE(why.find("subscription 'orders'"), std::string::npos) << why;
  EXPECT_NE(why.find("the handler is broken"), std::string::npos) << why;
  EXPECT_EQ(t.health().state, millrace::service_state::failed);
  const std::string what = thrown<expectation_failed>([&] { t.assert_running(); });
  EXPECT_EQ(what, "expected a running service, but it failed: " + why);
  const auto stopped = t.shutdown();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message(), why);
}

TEST(failures, other_policies_let_the_service_run) {
  millrace::service app{{.title = "goes on"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("dropping", reject).on_exception(failure_policy::drop());
  on.subscribe("skipping", reject).on_exception(failure_policy::skip());
  test_service t(app);
  t.publish("dropping", order{1, "tea"});
  t.publish("skipping", order{1, "tea"});
  t.subscription("dropping").settled(drop()).assert_outcome(outcome_kind::exception);
  t.subscription("skipping").settled(ack()).assert_outcome(outcome_kind::exception);
  t.assert_running();
}

TEST(failures, a_message_that_used_its_attempts_up_is_seen_as_a_dead_letter) {
  millrace::service app{{.title = "spent"}};
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](const order&) { return millrace::retry(); }).max_attempts(3).dead_letter("orders.dead");
  test_service t(app);
  t.publish("orders", order{1, "tea"}, millrace::testing::headers({{"tenant", "eu"}}));
  t.subscription("orders").called(3).attempts(3);
  t.published("orders.dead").once().with(order{1, "tea"}).header("tenant", "eu");
}

TEST(batches, are_one_call_each) {
  millrace::service app{{.title = "batches"}};
  auto on = app.with_broker(memory::broker{});
  auto orders = on.publisher();
  on.subscribe_batches("orders", 2, [](std::span<const order>) { return drop(); });
  test_service t(app);
  t.drive(publish_three(orders));
  const auto seen = t.subscription("orders");
  seen.called(2).with(order{3, "tea"}).settled(drop()).assert_outcome(outcome_kind::drop);
  EXPECT_EQ(seen.batch_sizes(), (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(seen.received<order>().size(), 3U);
}

TEST(batches, have_no_sole_payload) {
  millrace::service app{{.title = "batches"}};
  auto on = app.with_broker(memory::broker{});
  auto orders = on.publisher();
  on.subscribe_batches("orders", 3, [](std::span<const order>) {
    std::vector<millrace::outcome> each;
    each.push_back(ack());
    each.push_back(drop());
    each.push_back(ack());
    return each;
  });
  test_service t(app);
  t.drive(publish_three(orders));
  const auto seen = t.subscription("orders");
  seen.called_once();
  std::string what = thrown<expectation_failed>([&] { seen.with(order{3, "tea"}); });
  EXPECT_NE(what.find("got a batch of 3\n"), std::string::npos) << what;
  what = thrown<expectation_failed>([&] { seen.settled(ack()); });
  EXPECT_NE(what.find("expected ack, got drop\n"), std::string::npos) << what;
}

TEST(failures, a_value_that_does_not_encode_is_refused_before_the_broker) {
  millrace::service app{{.title = "encode"}};
  static_cast<void>(app.with_broker(memory::broker{}));
  test_service t(app);
  const std::string what = thrown<millrace::testing::publish_failed>([&] { t.publish("orders", order{1, "\xff"}); });
  EXPECT_NE(what.find("publish to 'orders'"), std::string::npos) << what;
  t.published("orders").none();
}

} // namespace
} // namespace testing_test
