#include "delivery_types.hpp"

#include <gtest/gtest.h>
#include <millrace/transaction.hpp>

using namespace delivery;

namespace {

using publisher = millrace::publisher<millrace::memory::publish>;
using done = millrace::result<void>;

struct counted_service : orders_service {
  publisher pub = on.publisher();
  log_lines seen = make_log();
  counted_service() {
    on.subscribe("orders", [log = seen](const order& o) { log->push_back(std::to_string(o.id)); });
  }
};

enum class end { commit, abort, leave };

millrace::task<done> two_orders(publisher pub, log_lines seen, end how) {
  auto tx = co_await millrace::begin(pub);
  if (!tx) co_return millrace::fail(std::move(tx).error());
  const order first{1, "a"};
  const order second{2, "b"};
  auto sent = co_await tx->publish("orders", first);
  EXPECT_TRUE(sent);
  auto again = co_await tx->publish("orders", second);
  EXPECT_TRUE(again);
  EXPECT_TRUE(seen->empty()) << "visible before the commit";
  if (how == end::leave) co_return done{};
  if (how == end::abort) {
    auto aborted = co_await std::move(*tx).abort();
    co_return aborted;
  }
  auto committed = co_await std::move(*tx).commit();
  co_return committed;
}

millrace::task<done> begin_twice(publisher pub) {
  auto first = co_await millrace::begin(pub);
  EXPECT_TRUE(first);
  auto second = co_await millrace::begin(pub);
  EXPECT_FALSE(second);
  if (!second) {
    EXPECT_TRUE(second.error() == millrace::errc::invalid_options);
  }
  const order o{5, "x"};
  auto sent = co_await first->publish("orders", o);
  EXPECT_TRUE(sent);
  auto committed = co_await std::move(*first).commit();
  EXPECT_TRUE(committed);
  auto third = co_await millrace::begin(pub);
  EXPECT_TRUE(third) << "the publisher is free again";
  auto aborted = co_await std::move(*third).abort();
  co_return aborted;
}

millrace::task<done> two_owned(publisher pub) {
  auto a = co_await millrace::begin_owned(pub);
  auto b = co_await millrace::begin_owned(pub);
  const order in_a{1, "a"};
  const order in_b{2, "b"};
  const order direct{3, "c"};
  auto sent_a = co_await a->publish("orders", in_a);
  auto sent_b = co_await b->publish("orders", in_b);
  auto sent = co_await pub.publish("orders", direct);
  EXPECT_TRUE(sent_a && sent_b && sent);
  auto aborted = co_await std::move(*a).abort();
  EXPECT_TRUE(aborted);
  auto committed = co_await std::move(*b).commit();
  co_return committed;
}

} // namespace

// core 3.51
TEST(Transactions, nothing_is_visible_before_the_commit_and_all_in_order_after) {
  counted_service s;
  test_service t(s.app);
  EXPECT_TRUE(t.drive(two_orders(s.pub, s.seen, end::commit)));
  EXPECT_EQ(*s.seen, (std::vector<std::string>{"1", "2"}));
}

// core 3.51
TEST(Transactions, an_abort_discards) {
  counted_service s;
  test_service t(s.app);
  EXPECT_TRUE(t.drive(two_orders(s.pub, s.seen, end::abort)));
  EXPECT_TRUE(s.seen->empty());
}

// core 3.54
TEST(Transactions, leaving_the_scope_aborts_with_a_warning_and_frees_the_publisher) {
  counted_service s;
  std::vector<std::string> lines;
  millrace::set_log_sink([&](millrace::log_level, std::string_view line) { lines.emplace_back(line); });
  test_service t(s.app);
  EXPECT_TRUE(t.drive(two_orders(s.pub, s.seen, end::leave)));
  millrace::set_log_sink({});
  EXPECT_TRUE(s.seen->empty());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("transaction"), std::string::npos);
  EXPECT_TRUE(t.drive(two_orders(s.pub, s.seen, end::commit)));
  EXPECT_EQ(s.seen->size(), 2U);
}

// core 3.52
TEST(Transactions, a_second_borrowed_one_is_refused_and_the_first_is_intact) {
  counted_service s;
  test_service t(s.app);
  EXPECT_TRUE(t.drive(begin_twice(s.pub)));
  EXPECT_EQ(*s.seen, std::vector<std::string>{"5"});
}

// core 3.53
TEST(Transactions, owned_ones_settle_on_their_own_beside_direct_publishes) {
  counted_service s;
  test_service t(s.app);
  EXPECT_TRUE(t.drive(two_owned(s.pub)));
  EXPECT_EQ(*s.seen, (std::vector<std::string>{"3", "2"}));
}

// L4
TEST(Transactions, after_the_shutdown_they_answer_closed) {
  counted_service s;
  test_service t(s.app);
  ASSERT_TRUE(t.shutdown());
  const auto late = t.drive(two_orders(s.pub, s.seen, end::commit));
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error() == millrace::errc::closed);
}

// core 3.46
TEST(Transactions, their_messages_go_through_the_services_layers) {
  counted_service s;
  auto layered = make_log();
  s.app.use(noting_layer(layered));
  test_service t(s.app);
  ASSERT_TRUE(t.drive(two_orders(s.pub, s.seen, end::commit)));
  EXPECT_EQ(*layered, (std::vector<std::string>{"orders", "orders"}));
  EXPECT_EQ(*s.seen, (std::vector<std::string>{"1", "2"}));
}
