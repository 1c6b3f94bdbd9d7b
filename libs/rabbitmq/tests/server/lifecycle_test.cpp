#include "server/live_server.hpp"

#include <gtest/gtest.h>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

std::string with_login(const std::string& login, const std::string& vhost = {}) {
  std::string url = live_server::shared().url();
  url.replace(url.find("guest:guest"), 11, login);
  return url + vhost;
}

TEST(rabbitmq_lifecycle, R1_the_server_knows_the_connection_by_its_name) {
  const std::string name = fresh_name("name");
  client c(broker(live_server::shared().url()).connection_name(name));
  ASSERT_TRUE(c.connected());
  EXPECT_EQ(live_server::shared().eval_connection(name, "pid", "found"), "[found]");
}

/// L1: nothing is parsed or dialled; L2 and scenario 3: what the server refuses is an error of connect, without the
/// password.
TEST(rabbitmq_lifecycle, L1_L2_R1_what_cannot_connect_is_an_error_of_connect) {
  const broker nonsense("no uri at all, with:secret@in it");
  EXPECT_EQ(nonsense.describe().find("secret"), std::string::npos);
  client bad(nonsense);
  ASSERT_FALSE(bad.connected());
  client login(broker(with_login("guest:secret")));
  ASSERT_FALSE(login.connected());
  EXPECT_EQ(login.failure(), millrace::errc::connect);
  EXPECT_EQ(login.failure().server_code(), 403);
  EXPECT_EQ(login.failure().message().find("secret"), std::string::npos);
  client vhost(broker(with_login("guest:guest", "/nowhere")));
  ASSERT_FALSE(vhost.connected());
  EXPECT_EQ(vhost.failure().server_code(), 530);
  client nobody(broker("amqp://127.0.0.1:1"));
  ASSERT_FALSE(nobody.connected());
  EXPECT_EQ(nobody.failure(), millrace::errc::connect);
}

/// Scenario 5: the server's own words; the channel alone is closed.
TEST(rabbitmq_lifecycle, R2_3_a_declaration_that_differs_is_refused_with_the_servers_text) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("differs");
  const auto first = c.open(client::temporary(name), to);
  ASSERT_TRUE(first) << first.error().message();
  auto second = c.open(client::temporary(name).argument("x-max-length", 5), to);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), rabbitmq::errc::declare);
  EXPECT_EQ(second.error().server_code(), 406);
  EXPECT_NE(second.error().message().find("PRECONDITION_FAILED"), std::string::npos);
  EXPECT_NE(second.error().message().find(name), std::string::npos);
  const auto port = c.pair(publish());
  ASSERT_TRUE(c.send(*port, name, "still here"));
  EXPECT_TRUE(settle(to.next()));
}

TEST(rabbitmq_lifecycle, R2_5_R3_a_missing_delay_target_ends_the_start_with_both_names) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("delayed");
  const auto there = c.open(client::temporary(name), to);
  open_options options;
  options.subscription = "billing";
  auto opened = c.open(queue(name).delay(delay::waiting_queue()), to, options);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("'billing'"), std::string::npos);
  EXPECT_NE(opened.error().message().find("'" + name + ".retry'"), std::string::npos);
}

/// Scenario 4: the error names the queue, and the other channels go on.
TEST(rabbitmq_lifecycle, R2_6_a_missing_queue_ends_the_start_and_nothing_else) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("missing");
  auto opened = c.open(queue(name), to);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), rabbitmq::errc::subscribe);
  EXPECT_EQ(opened.error().server_code(), 404);
  EXPECT_NE(opened.error().message().find(name), std::string::npos);
  EXPECT_TRUE(c.open(client::temporary(fresh_name("next")), to));
}

TEST(rabbitmq_lifecycle, R2_4_a_prefetch_of_one_holds_the_second_message) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("prefetch");
  const auto open = c.open(client::temporary(name).prefetch(1), to);
  ASSERT_TRUE(open);
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "one"));
  ASSERT_TRUE(c.send(*port, name, "two"));
  incoming* first = to.next();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(to.next(200ms), nullptr);
  EXPECT_TRUE(settle(first));
  EXPECT_TRUE(settle(to.next()));
}

/// A service that only reads holds the publish channel and one for each subscription.
TEST(rabbitmq_lifecycle, R4_R2_2_a_reader_opens_no_other_channel) {
  const std::string name = fresh_name("channels");
  client c(broker(live_server::shared().url()).connection_name(name));
  waiting_sink to;
  const auto one = c.open(client::temporary(fresh_name("a")), to);
  const auto two = c.open(client::temporary(fresh_name("b")), to);
  const auto confirming = c.pair(confirms());
  const auto requesting = c.pair(request());
  const auto count = [&] { return live_server::shared().eval_connection(name, "channels", "Is"); };
  EXPECT_EQ(count(), "[[{channels,3}]]");
  EXPECT_FALSE(c.send(*confirming, fresh_name("nowhere"), "x")); // unroutable: an error, and a channel
  EXPECT_EQ(count(), "[[{channels,4}]]");
}

/// R5, scenario 36: the close of a channel and that of the connection cross; the shutdown stays an orderly one.
TEST(rabbitmq_lifecycle, R5_a_subscription_dropped_just_before_the_shutdown_does_not_disturb_it) {
  for (int i = 0; i < 10; ++i) {
    client c;
    waiting_sink to;
    auto open = c.open(client::temporary(fresh_name("dropped")), to);
    ASSERT_TRUE(open) << open.error().message();
    open->reset();
    const auto closed = c.shutdown();
    ASSERT_TRUE(closed);
    EXPECT_TRUE(closed->handshake());
  }
}

/// R5, R6, L3, L4: what is held goes back to its queue; every handle that is left answers an error.
TEST(rabbitmq_lifecycle, R5_R6_L3_L4_shutdown_requeues_and_what_is_left_answers_errors) {
  client other;
  waiting_sink mine;
  const std::string name = fresh_name("requeued");
  waiting_sink to;
  const queue shared_queue = queue(name).argument("x-expires", 60000).with_topology(topology::declare);
  std::shared_ptr<publish_port> port;
  std::shared_ptr<publish_port> confirming;
  incoming* held = nullptr;
  {
    client c;
    const auto open = c.open(shared_queue, to);
    ASSERT_TRUE(open) << open.error().message();
    port = c.pair(publish());
    confirming = c.pair(confirms());
    ASSERT_TRUE(c.send(*confirming, name, "kept"));
    held = to.next();
    ASSERT_NE(held, nullptr);
    const auto closed = c.shutdown();
    ASSERT_TRUE(closed);
    EXPECT_TRUE(closed->handshake());
    EXPECT_EQ(held->settle({}).error(), millrace::errc::closed); // R6
    held->release();
    EXPECT_EQ(c.send(*port, name, "late").error(), millrace::errc::closed); // L3, L4
    EXPECT_EQ(c.send(*confirming, name, "late").error(), rabbitmq::errc::closed);
  }
  const auto again = other.open(shared_queue, mine);
  ASSERT_TRUE(again);
  incoming* back = mine.next();
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(as_text(back->payload()), "kept");
  EXPECT_TRUE(*static_cast<const bool*>(back->field(redelivered)));
  EXPECT_TRUE(settle(back));
}

} // namespace
} // namespace millrace::rabbitmq::testing
