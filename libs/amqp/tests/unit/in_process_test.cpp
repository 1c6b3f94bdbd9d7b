// The in-process mode through the public API: addresses, topics, transactions, copies of a broker.
#include <millrace/amqp.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

namespace millrace::amqp {
namespace {

using millrace::testing::virtual_runtime;

class holding_sink final : public sink {
 public:
  ~holding_sink() { held.release_all(); }
  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override { held.append(std::move(batch)); }
  void interrupted(error) noexcept override { ++losses; }
  void resumed() noexcept override {}
  void ended(error) noexcept override { ++losses; }
  void dropped(std::uint64_t) noexcept override {}
  std::string next() {
    incoming* const m = held.pop();
    if (m == nullptr) return "(nothing)";
    std::string text(as_text(m->payload()));
    (void)m->settle({});
    m->release();
    return text;
  }
  incoming_batch held;
  int losses = 0;
};

struct inside {
  explicit inside(broker b = broker("amqp://nowhere")) : connected(rt.drive(std::move(b).connect_in_process(rt))) {}
  /// What was posted is kept until it has run.
  ~inside() { (void)rt.run(); }
  template <class Source> open_result open(const Source& source, sink& to) {
    return rt.drive(connected->open(source, to, open_options()));
  }
  template <class Port> std::string send(Port& to, std::string_view destination, std::string_view text) {
    publish_operation op(&rt);
    to.publish({destination, as_bytes(text), nullptr, nullptr}, op);
    EXPECT_TRUE(rt.run());
    if (!op.done()) return "(under way)";
    auto answer = op.take();
    return answer ? "" : answer.error().message();
  }
  virtual_runtime rt;
  result<connected_broker> connected;
};

TEST(amqp_in_process, a_bad_url_is_refused_as_connect_refuses_it) {
  inside c(broker("no url"));
  ASSERT_FALSE(c.connected);
  EXPECT_EQ(c.connected.error(), millrace::errc::connect);
}

/// Section 14: readers of a queue take turns; subscriptions of a topic get a copy each; both may be at one address.
TEST(amqp_in_process, queues_share_and_topics_copy) {
  inside c;
  holding_sink one, two, copy, other;
  const auto a = c.open(queue("x"), one);
  const auto b = c.open(raw("x"), two);
  const auto t = c.open(topic("x"), copy);
  const auto u = c.open(topic("x"), other);
  const auto port = *c.connected->pair(publish());
  for (const char* text : {"1", "2", "3", "4"})
    EXPECT_EQ(c.send(*port, "x", text), "");
  EXPECT_EQ(one.held.size(), 2U);
  EXPECT_EQ(two.held.size(), 2U);
  for (holding_sink* each : {&copy, &other}) {
    for (const char* text : {"1", "2", "3", "4"})
      EXPECT_EQ(each->next(), text);
  }
  EXPECT_EQ(one.next(), "1");
  EXPECT_EQ(two.next(), "2");
}

/// Section 14: accepted and gone.
TEST(amqp_in_process, nobody_reads_an_address) {
  inside c;
  const auto port = *c.connected->pair(publish());
  EXPECT_EQ(c.send(*port, "nobody", "x"), "");
  holding_sink late;
  const auto open = c.open(queue("nobody"), late);
  EXPECT_TRUE(c.rt.run());
  EXPECT_TRUE(late.held.empty());
}

TEST(amqp_in_process, credit_holds_messages_back) {
  inside c;
  holding_sink to;
  const auto open = c.open(queue("x").credit(2), to);
  const auto port = *c.connected->pair(publish());
  for (const char* text : {"1", "2", "3"})
    EXPECT_EQ(c.send(*port, "x", text), "");
  EXPECT_EQ(to.held.size(), 2U);
  EXPECT_EQ(to.next(), "1");
  EXPECT_TRUE(c.rt.run());
  EXPECT_EQ(to.next(), "2");
  EXPECT_EQ(to.next(), "3");
}

/// It never succeeds where it does not know what a server would do.
TEST(amqp_in_process, a_selector_is_refused) {
  inside c;
  holding_sink to;
  const auto open = c.open(queue("x").selector("a = 1"), to);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error(), amqp::errc::attach);
  EXPECT_NE(open.error().message().find("selectors"), std::string::npos);
}

/// Section 8: all at the commit, in order, or nothing.
TEST(amqp_in_process, transactions_are_all_or_nothing) {
  inside c;
  holding_sink to;
  const auto open = c.open(queue("x"), to);
  const auto port = *c.connected->pair(transactional_publish());
  auto tx = c.rt.drive(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(tx) << tx.error().message();
  EXPECT_EQ(c.send(**tx, "x", "1"), "");
  EXPECT_EQ(c.send(**tx, "x", "2"), "");
  EXPECT_TRUE(to.held.empty());
  EXPECT_EQ(c.send(*port, "x", "outside"), "");
  EXPECT_EQ(to.next(), "outside");
  ASSERT_TRUE(c.rt.drive((*tx)->commit()));
  EXPECT_TRUE(c.rt.run());
  EXPECT_EQ(to.next(), "1");
  EXPECT_EQ(to.next(), "2");
  EXPECT_EQ(c.rt.drive((*tx)->commit()).error(), amqp::errc::transaction);
  auto again = c.rt.drive(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(again);
  EXPECT_EQ(c.send(**again, "x", "3"), "");
  ASSERT_TRUE(c.rt.drive((*again)->abort()));
  EXPECT_TRUE(c.rt.run());
  EXPECT_TRUE(to.held.empty());
  auto left = c.rt.drive(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(left);
  EXPECT_EQ(c.send(**left, "x", "4"), "");
  (*left)->abandon();
  EXPECT_TRUE(c.rt.run());
  EXPECT_TRUE(to.held.empty());
  EXPECT_EQ(c.rt.drive(port->begin(transaction_kind::owned)).error(), millrace::errc::unsupported);
}

/// Scenario 27, section 8: after the shutdown a commit is an error, and so is a begin.
TEST(amqp_in_process, a_transaction_over_a_shutdown) {
  inside c;
  const auto port = *c.connected->pair(transactional_publish());
  auto tx = c.rt.drive(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(tx);
  ASSERT_TRUE(c.rt.drive(std::move(*c.connected).shutdown()));
  EXPECT_FALSE(c.rt.drive((*tx)->commit()));
  EXPECT_EQ(c.rt.drive(port->begin(transaction_kind::borrowed)).error(), millrace::errc::not_connected);
}

/// A8: one connection for all copies.
TEST(amqp_in_process, A8_copies_share_the_connection) {
  virtual_runtime rt;
  const broker original("amqp://nowhere");
  broker copy = original;
  broker another = original;
  auto one = rt.drive(std::move(copy).connect_in_process(rt));
  auto two = rt.drive(std::move(another).connect_in_process(rt));
  ASSERT_TRUE(one && two);
  holding_sink to;
  const auto open = rt.drive(one->open(queue("x"), to, open_options()));
  const auto port = *two->pair(publish());
  publish_operation op(&rt);
  port->publish({"x", as_bytes("hi"), nullptr, nullptr}, op);
  EXPECT_TRUE(rt.run());
  EXPECT_EQ(to.next(), "hi");
  ASSERT_TRUE(rt.drive(std::move(*one).shutdown()));
  const auto second = rt.drive(std::move(*two).shutdown());
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->orderly()); // it was closed already
}

TEST(amqp_in_process, A8_a_copy_does_not_mix_modes) {
  virtual_runtime rt;
  const broker original("amqp://127.0.0.1:1");
  broker copy = original;
  const auto inside = rt.drive(std::move(copy).connect_in_process(rt));
  ASSERT_TRUE(inside);
  broker other = original;
  const auto refused = rt.drive(std::move(other).connect(rt));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), millrace::errc::connect);
  EXPECT_NE(refused.error().message().find("in process"), std::string::npos);
}

/// L1: nothing is parsed and nobody is dialled.
TEST(amqp_in_process, A1_L1_construction_records_only) {
  const broker b = broker("this is no url").with_sasl(sasl::plain("u", "secret")).container_id("c");
  EXPECT_EQ(b.describe(), "amqp");
}

} // namespace
} // namespace millrace::amqp
