// What the record answers, and what a failed expectation says. core 2.31.
#include <millrace/memory.hpp>
#include <millrace/testing.hpp>

#include "orders.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace testing_test {

struct line { // no operator==
  std::string item;
  int quantity = 0;
};
BOOST_DESCRIBE_STRUCT(line, (), (item, quantity))
struct basket {
  std::optional<line> first;
  std::vector<line> lines;
  std::map<std::string, line> by_name;
};
BOOST_DESCRIBE_STRUCT(basket, (), (first, lines, by_name))

namespace {

using namespace std::chrono_literals;
using millrace::ack;
using millrace::drop;
using millrace::outcome;
using millrace::retry;
using millrace::retry_after;
using millrace::testing::expectation_failed;
using millrace::testing::outcome_kind;
using millrace::testing::test_service;
namespace memory = millrace::memory;

/// Settles an order as its item says.
outcome as_told(const order& o, millrace::context& ctx) {
  if (ctx.attempt() > 1) return ack();
  if (o.item == "retry") return retry();
  if (o.item == "later") return retry_after(5s);
  if (o.item == "drop") return drop();
  if (o.item == "throw") throw std::runtime_error("no such item");
  return ack();
}

class expectations : public ::testing::Test {
 protected:
  expectations() {
    auto on = app.with_broker(memory::broker{});
    on.subscribe("orders", as_told).on_exception(millrace::failure_policy::drop());
    on.subscribe("other", as_told);
    on.subscribe("baskets", [](const basket&) {});
    t.emplace(app);
  }
  template <class F> std::string failure(F expect) { return thrown<expectation_failed>(expect); }

  millrace::service<> app{{.title = "expectations"}};
  std::optional<test_service> t;
};

TEST_F(expectations, hold) {
  t->publish("orders", order{1, "tea"}, millrace::testing::headers({{"tenant", "eu"}}));
  t->subscription("orders")
      .called_once()
      .called(1)
      .with(order{1, "tea"})
      .with_text(R"({"id":1,"item":"tea"})")
      .with_bytes(millrace::as_bytes(R"({"id":1,"item":"tea"})"))
      .header("Tenant", "eu")
      .settled(ack())
      .assert_outcome(outcome_kind::ack)
      .attempts(1);
  t->subscription("other").not_called();
  t->published("orders")
      .once()
      .count(1)
      .with(order{1, "tea"})
      .with_text(R"({"id":1,"item":"tea"})")
      .header("tenant", "eu");
  t->published("other").none();
}

TEST_F(expectations, look_at_the_most_recent_call_and_the_raw_material_at_all_in_order) {
  t->publish("orders", order{1, "retry"});
  t->publish("orders", order{2, "drop"});
  t->publish_text("orders", "not json");
  t->publish("orders", order{3, "throw"});
  t->publish("orders", order{4, "later"});
  const auto orders = t->subscription("orders");
  orders.called(5).with(order{4, "later"}).settled(retry_after(5s));
  EXPECT_EQ(orders.received<order>(),
            (std::vector<order>{{1, "retry"}, {1, "retry"}, {2, "drop"}, {3, "throw"}, {4, "later"}}));
  EXPECT_EQ(orders.received_text().size(), 5U);
  EXPECT_EQ(orders.outcomes(),
            (std::vector{outcome_kind::nack, outcome_kind::ack, outcome_kind::drop, outcome_kind::decode_failure,
                         outcome_kind::exception, outcome_kind::nack_after}));
  EXPECT_EQ(orders.deliveries().size(), 6U);
  t->advance(5s);
  orders.called(6).settled(ack()); // a view reads the record anew
  EXPECT_EQ(t->published("orders").texts().size(), 5U);
  EXPECT_THROW(static_cast<void>(t->published("orders").payloads<order>()), expectation_failed) << "one is no order";
  t->publish("other", order{6, "tea"});
  EXPECT_EQ(t->published("other").payloads<order>(), (std::vector<order>{{6, "tea"}}));
}

TEST_F(expectations, compare_structs_without_equality_by_their_members) {
  const basket sent{line{"tea", 1}, {{"tea", 1}, {"cup", 2}}, {{"a", {"tea", 1}}}};
  t->publish("baskets", sent);
  t->subscription("baskets").with(sent);
  basket other = sent;
  other.lines[1].quantity = 3;
  EXPECT_THROW(t->subscription("baskets").with(other), expectation_failed);
  other = sent;
  other.first.reset();
  EXPECT_THROW(t->subscription("baskets").with(other), expectation_failed);
  other = sent;
  other.by_name["a"].item = "cup";
  EXPECT_THROW(t->published("baskets").with(other), expectation_failed);
}

TEST_F(expectations, say_how_often_it_was_called_and_list_the_record) {
  t->publish("orders", order{1, "retry"}, millrace::testing::headers({{"tenant", "eu"}}));
  t->publish("orders", order{2, "throw"});
  EXPECT_EQ(failure([&] { t->subscription("orders").called_once(); }),
            "subscription 'orders': expected 1 call, got 3 calls\n"
            "recorded on 'orders':\n"
            "  1. retry  attempt 1  {\"id\":1,\"item\":\"retry\"}  [tenant: eu]\n"
            "  2. ack  attempt 2  {\"id\":1,\"item\":\"retry\"}  [tenant: eu]\n"
            "  3. exception, drop  attempt 1  {\"id\":2,\"item\":\"throw\"}  (no such item)");
  EXPECT_EQ(failure([&] { t->subscription("other").called_once(); }),
            "subscription 'other': expected 1 call, got 0 calls\n"
            "nothing was delivered to 'other'; published: 'orders' 2");
}

TEST_F(expectations, say_what_differs) {
  t->publish("orders", order{1, "tea"}, millrace::testing::headers({{"tenant", "eu"}}));
  const auto orders = t->subscription("orders");
  const auto first_line = [&](auto expect) {
    const std::string what = failure(expect);
    return what.substr(0, what.find('\n'));
  };
  EXPECT_EQ(first_line([&] { orders.with(order{2, "tea"}); }),
            R"(subscription 'orders': expected {"id":2,"item":"tea"}, got {"id":1,"item":"tea"})");
  EXPECT_EQ(first_line([&] { orders.with_text("tea"); }),
            R"(subscription 'orders': expected tea, got {"id":1,"item":"tea"})");
  EXPECT_EQ(first_line([&] { orders.header("tenant", "us"); }),
            "subscription 'orders': expected header tenant: us, got eu");
  EXPECT_EQ(first_line([&] { orders.header("owner", "us"); }),
            "subscription 'orders': expected header owner: us, got no such header");
  EXPECT_EQ(first_line([&] { orders.settled(retry_after(1500ms)); }),
            "subscription 'orders': expected retry after 1500ms, got ack");
  EXPECT_EQ(first_line([&] { orders.left_unsettled(); }), "subscription 'orders': expected unsettled, got ack");
  EXPECT_EQ(first_line([&] { orders.assert_outcome(outcome_kind::decode_failure); }),
            "subscription 'orders': expected decode failure, got ack");
  EXPECT_EQ(first_line([&] { orders.attempts(2); }), "subscription 'orders': expected attempt 2, got attempt 1");
  EXPECT_EQ(
      first_line([&] { static_cast<void>(orders.received<line>()); }).substr(0, 100),
      "subscription 'orders': expected payloads of the type that is asked for, got {\"id\":1,\"item\":\"tea\"}: c");
}

TEST_F(expectations, say_what_a_payload_is_that_does_not_decode) {
  t->publish_text("orders", "\x01nonsense");
  const std::string what = failure([&] { t->subscription("orders").with(order{1, "tea"}); });
  EXPECT_NE(what.find(R"(got \x01nonsense, which does not decode: )"), std::string::npos) << what;
  EXPECT_NE(what.find("1. decode failure, drop  attempt 1"), std::string::npos) << what;
}

TEST_F(expectations, say_that_nothing_was_delivered) {
  EXPECT_EQ(failure([&] { t->subscription("orders").with(order{1, "tea"}); }),
            "subscription 'orders': expected a delivery with {\"id\":1,\"item\":\"tea\"}, got no delivery\n"
            "nothing was delivered to 'orders'; published: nothing");
}

TEST_F(expectations, on_what_was_published_say_the_same) {
  t->publish("orders", order{1, "tea"});
  EXPECT_EQ(failure([&] { t->published("orders").none(); }),
            "published to 'orders': expected 0 messages, got 1 message\n"
            "recorded on 'orders':\n"
            "  1. {\"id\":1,\"item\":\"tea\"}");
  EXPECT_EQ(failure([&] { t->published("orders.dead").once(); }),
            "published to 'orders.dead': expected 1 message, got 0 messages\n"
            "published elsewhere: 'orders' 1");
  EXPECT_EQ(failure([&] { t->published("orders").header("a", "b"); }).substr(0, 70),
            "published to 'orders': expected header a: b, got no such header\nrecord");
}

TEST_F(expectations, list_the_last_of_a_long_record_and_cut_long_payloads) {
  for (std::uint64_t i = 1; i <= 25; ++i)
    t->publish("orders", order{i, std::string(300, 'x')});
  const std::string what = failure([&] { t->subscription("orders").not_called(); });
  EXPECT_NE(what.find("… 5 earlier\n  6. ack"), std::string::npos) << what;
  EXPECT_NE(what.find("… (318 bytes)"), std::string::npos) << what;
}

} // namespace
} // namespace testing_test
