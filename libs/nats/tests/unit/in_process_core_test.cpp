#include "unit/in_process_client.hpp"

#include <gtest/gtest.h>

namespace millrace::nats::detail::testing {
namespace {

using millrace::testing::virtual_runtime;
using words = std::vector<std::string>;

struct in_process_core : ::testing::Test {
  virtual_runtime rt;
};

TEST_F(in_process_core, delivers_before_publish_returns) { // N7, nats 10
  client c(rt);
  const auto in = c.listen("orders");
  ASSERT_TRUE(c.publish("orders", "one", "back", {{"A", " b "}}));
  ASSERT_EQ(in->messages.size(), 1U);
  EXPECT_EQ(in->messages[0].subject, "orders");
  EXPECT_EQ(in->messages[0].reply, "back");
  EXPECT_EQ(in->messages[0].payload, "one");
  EXPECT_EQ(in->messages[0].headers.get("a"), "b"); // the wire trims values
}

TEST_F(in_process_core, matches_wildcards) { // nats 3.1
  client c(rt);
  const auto star = c.listen("a.*.c");
  const auto rest = c.listen("a.>");
  const auto star_in_token = c.listen("a.b*");
  for (const char* subject : {"a", "a.b", "a.b.c", "a.b.c.d", "a.b*"})
    ASSERT_TRUE(c.publish(subject, subject));
  EXPECT_EQ(star->payloads(), (words{"a.b.c"}));
  EXPECT_EQ(rest->payloads(), (words{"a.b", "a.b.c", "a.b.c.d", "a.b*"}));
  EXPECT_EQ(star_in_token->payloads(), (words{"a.b*"}));
}

TEST_F(in_process_core, refuses_what_the_server_refuses) { // nats 3.1, 6, 10
  client c(rt);
  inbox in;
  for (const char* subject : {"", "a..b", ".a", "a.", "a.>.b", "a b", ">.a"}) {
    const auto refused = c->subscribe(subject, "", in, 0);
    ASSERT_FALSE(refused) << subject;
    EXPECT_EQ(refused.error(), millrace::errc::subscribe) << subject;
  }
  EXPECT_EQ(c->subscribe("a", "two words", in, 0).error(), millrace::errc::subscribe);
  for (const char* subject : {"", "a..b", "a b", "a.*", ">"}) {
    const auto refused = c.publish(subject, "x");
    ASSERT_FALSE(refused) << subject;
    EXPECT_EQ(refused.error(), millrace::errc::publish) << subject;
  }
  EXPECT_EQ(c.publish("a", "x", "b..c").error(), millrace::errc::publish);
  EXPECT_EQ(c.publish(std::string(4100, 's'), "x").error(), millrace::errc::publish);
  EXPECT_EQ(c->counters().messages_sent, 0U);
}

TEST_F(in_process_core, payload_limit_counts_the_header_block) { // nats 6, 10
  client c(rt);
  constexpr std::size_t limit = 1024UL * 1024;
  constexpr std::size_t block = sizeof("NATS/1.0\r\nA: B\r\n\r\n") - 1;
  EXPECT_TRUE(c.publish("a", std::string(limit, 'x')));
  EXPECT_EQ(c.publish("a", std::string(limit + 1, 'x')).error(), millrace::errc::publish);
  EXPECT_TRUE(c.publish("a", std::string(limit - block, 'x'), {}, {{"A", "B"}}));
  EXPECT_FALSE(c.publish("a", std::string(limit - block + 1, 'x'), {}, {{"A", "B"}}));
}

TEST_F(in_process_core, a_group_takes_turns) { // nats 3.1
  client c(rt);
  const auto first = c.listen("jobs", "g");
  const auto second = c.listen("jobs", "g");
  const auto observer = c.listen("jobs");
  for (const char* job : {"1", "2", "3", "4"})
    ASSERT_TRUE(c.publish("jobs", job));
  EXPECT_EQ(first->payloads(), (words{"1", "3"}));
  EXPECT_EQ(second->payloads(), (words{"2", "4"}));
  EXPECT_EQ(observer->payloads(), (words{"1", "2", "3", "4"}));
}

TEST_F(in_process_core, a_group_is_its_name_across_subjects) { // nats 3.1
  client c(rt);
  const auto star = c.listen("orders.*", "g");
  const auto rest = c.listen("orders.>", "g");
  const auto other = c.listen("orders.>", "h");
  for (const char* order : {"1", "2"})
    ASSERT_TRUE(c.publish("orders.eu", order));
  ASSERT_TRUE(c.publish("orders.eu.de", "3"));
  EXPECT_EQ(star->payloads(), (words{"1"}));
  EXPECT_EQ(rest->payloads(), (words{"2", "3"}));
  EXPECT_EQ(other->payloads(), (words{"1", "2", "3"}));
}

TEST_F(in_process_core, no_responders_at_once) { // nats 7
  client c(rt);
  EXPECT_EQ(c.request("nobody"), "503");
  const auto queued = c.listen("back", "g"); // the server looks for a plain subscription on the reply
  ASSERT_TRUE(c.publish("nobody", "x", "back"));
  EXPECT_TRUE(queued->messages.empty());
}

TEST_F(in_process_core, request_and_reply) { // nats 7
  client c(rt);
  const auto service = c.listen("double");
  service->then = [&] { ASSERT_TRUE(c.publish(service->messages.back().reply, "42")); };
  EXPECT_EQ(c.request("double", "21"), "42");
}

TEST_F(in_process_core, no_echo) { // N7, nats 10: own publishes are not heard and own responders do not count
  const auto server = make_in_process_server(rt);
  client quiet(server, {.no_echo = true});
  client other(server);
  const auto own = quiet.listen("a");
  const auto own_member = quiet.listen("a", "g");
  EXPECT_EQ(quiet.request("a"), "503");
  EXPECT_TRUE(own->messages.empty());
  const auto foreign_member = other.listen("a", "g");
  ASSERT_TRUE(quiet.publish("a", "1"));
  ASSERT_TRUE(quiet.publish("a", "2"));
  EXPECT_EQ(foreign_member->payloads(), (words{"1", "2"}));
  ASSERT_TRUE(other.publish("a", "3"));
  EXPECT_EQ(own->payloads(), (words{"3"}));
  EXPECT_TRUE(own_member->messages.size() + foreign_member->messages.size() == 3);
}

TEST_F(in_process_core, inboxes_are_unique_and_have_the_prefix) { // N7
  const auto server = make_in_process_server(rt);
  client a(server, {.inbox_prefix = "_MINE"});
  client b(server, {.inbox_prefix = "_MINE"});
  const std::string first = a->new_inbox();
  EXPECT_TRUE(first.starts_with("_MINE."));
  EXPECT_NE(first, a->new_inbox());
  EXPECT_NE(first, b->new_inbox());
}

TEST_F(in_process_core, one_server_a_connection) {
  client a(rt);
  client b(rt);
  const auto in = b.listen("x");
  ASSERT_TRUE(a.publish("x", "1"));
  EXPECT_TRUE(in->messages.empty());
}

TEST_F(in_process_core, a_receiver_may_publish_subscribe_and_unsubscribe) {
  client c(rt);
  const auto a = c.listen("a");
  const auto b = c.listen("b");
  std::unique_ptr<inbox> late;
  a->then = [&] {
    if (a->messages.size() > 1) return;
    ASSERT_TRUE(c.publish("a", "a2")); // to itself: after this call
    EXPECT_EQ(a->messages.size(), 1U);
    ASSERT_TRUE(c.publish("b", "b1")); // to another: at once
    EXPECT_EQ(b->payloads(), (words{"b1"}));
    b->subscription.reset();
    late = c.listen("b");
    ASSERT_TRUE(c.publish("b", "b2"));
  };
  ASSERT_TRUE(c.publish("a", "a1"));
  EXPECT_EQ(a->payloads(), (words{"a1", "a2"}));
  EXPECT_EQ(b->payloads(), (words{"b1"}));
  EXPECT_EQ(late->payloads(), (words{"b2"}));
}

TEST_F(in_process_core, stop_lets_the_receiver_finish) {
  client c(rt);
  const auto in = c.listen("a");
  bool stopped = false;
  struct completed : completion {
    explicit completed(bool& f)
        : completion([](completion& self) noexcept { static_cast<completed&>(self).flag = true; }), flag(f) {}
    bool& flag;
  } done(stopped);
  task<void> stopping;
  in->then = [&] {
    if (in->messages.size() > 1) return;
    ASSERT_TRUE(c.publish("a", "2"));
    stopping = in->subscription->stop(std::chrono::seconds(1));
    stopping.start(done);
    ASSERT_TRUE(c.publish("a", "3"));
    EXPECT_FALSE(stopped);
  };
  ASSERT_TRUE(c.publish("a", "1"));
  ASSERT_TRUE(rt.run());
  EXPECT_TRUE(stopped);
  EXPECT_EQ(in->payloads(), (words{"1", "2"}));
}

TEST_F(in_process_core, close_ends_everything) { // N5, N6, L3, L4
  client c(rt);
  const auto in = c.listen("a");
  ASSERT_TRUE(c.publish("a", "1"));
  ASSERT_TRUE(rt.drive(c->flush(std::chrono::seconds(1))));
  EXPECT_TRUE(rt.drive(c->close(std::chrono::seconds(1))));
  EXPECT_EQ(c.listener.closed, 1);
  EXPECT_FALSE(c->connected());
  const auto refused = c.publish("a", "2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), millrace::errc::closed);
  EXPECT_EQ(refused.error().context(), "a");
  EXPECT_EQ(c->subscribe("a", "", *in, 0).error(), millrace::errc::closed);
  EXPECT_EQ(rt.drive(c->flush(std::chrono::seconds(1))).error(), millrace::errc::closed);
  EXPECT_TRUE(rt.drive(c->close(std::chrono::seconds(1))));
  EXPECT_EQ(in->payloads(), (words{"1"}));
}

TEST_F(in_process_core, counts_exactly) { // nats 10
  client c(rt);
  const auto one = c.listen("a");
  const auto two = c.listen("a");
  ASSERT_TRUE(c.publish("a", "1"));
  ASSERT_TRUE(c.publish("b", "2"));
  EXPECT_EQ(c->counters().messages_sent, 2U);
  EXPECT_EQ(c->counters().messages_received, 2U);
  EXPECT_EQ(c->counters().connects, 1U);
  EXPECT_EQ(c->server().max_payload, 1024U * 1024U);
}

} // namespace
} // namespace millrace::nats::detail::testing
