// Streams that end, and why. "s1" to "s37" are the rows of the specification's list.
#include "fake_fixture.hpp"
#include "support/server_tool.hpp"
#include "support/tcp_relay.hpp"

namespace millrace::pubsub::test {
namespace {

using test_support::port_of;

class streams : public on_fake {
 public:
  void SetUp() override {
    on_fake::SetUp();
    c.emplace(at(server));
    port = value_of(open(*c, subscription("worker"), seen));
  }
  void TearDown() override {
    if (port) stop(std::move(port));
    seen.release_all();
  }
  void receives(const std::string& payload) {
    value_of(c->send("orders", payload));
    incoming* const m = seen.next();
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(as_text(m->payload()), payload);
    EXPECT_TRUE(ack(m));
  }
  std::optional<client> c;
  waiting_sink seen;
  std::unique_ptr<subscription_port> port;
};

TEST_F(streams, s1_s3_one_that_the_server_ends_is_opened_again_without_a_word) {
  receives("before");
  for (const int code : {14, 0, 1, 13}) {
    server.end_streams(code);
    receives("after " + std::to_string(code));
  }
  EXPECT_TRUE(seen.notes().empty());
}

TEST_F(streams, s2_attempts_that_fail_have_growing_pauses_and_health_is_red_meanwhile) {
  receives("before");
  const std::size_t opened = server.calls("StreamingPull");
  server.fail_next("StreamingPull", 14, 4);
  const auto began = std::chrono::steady_clock::now();
  server.end_streams(14);
  ASSERT_TRUE(seen.told("interrupted: "));
  ASSERT_TRUE(seen.told("resumed"));
  // Pauses of at least half of 100, 200, 400 and 800 ms.
  EXPECT_GE(std::chrono::steady_clock::now() - began, 700ms);
  EXPECT_EQ(server.calls("StreamingPull"), opened + 5);
  EXPECT_EQ(seen.notes().size(), 2U);
  receives("after");
}

TEST_F(streams, s5_a_subscription_that_is_deleted_ends_and_the_others_live) {
  server.create_subscription({subscription_name("other"), topic});
  waiting_sink other;
  auto lives = value_of(open(*c, subscription("other"), other));
  server.delete_subscription(name);
  ASSERT_TRUE(seen.told("ended: "));
  EXPECT_TRUE(seen.notes().back().contains(name)) << seen.notes().back();
  EXPECT_TRUE(seen.notes().back().contains("NOT_FOUND")) << seen.notes().back();
  EXPECT_EQ(seen.notes().size(), 1U);
  value_of(c->send("orders", "tea"));
  EXPECT_TRUE(ack(other.next()));
  stop(std::move(lives));
}

TEST_F(streams, s9_a_permission_that_is_withdrawn_ends_it_at_once) {
  const std::size_t opened = server.calls("StreamingPull");
  server.end_streams(7, "no right to consume");
  ASSERT_TRUE(seen.told("ended: "));
  EXPECT_TRUE(seen.notes().back().contains("no right to consume"));
  EXPECT_EQ(server.calls("StreamingPull"), opened);
}

TEST_F(streams, s10_credentials_that_ran_out_are_tried_again_and_bad_ones_end_it) {
  receives("before");
  server.end_streams(16);
  receives("with a fresh token");
  server.fail_next("StreamingPull", 16, 10);
  server.end_streams(14);
  ASSERT_TRUE(seen.told("ended: "));
  EXPECT_TRUE(seen.notes().back().contains("UNAUTHENTICATED"));
}

TEST_F(streams, what_was_delivered_before_an_end_is_settled_after_it) {
  value_of(c->send("orders", "tea"));
  incoming* const m = seen.next();
  ASSERT_NE(m, nullptr);
  server.end_streams(14);
  ASSERT_TRUE(eventually([&] { return server.open_streams(name) == 1; }));
  EXPECT_TRUE(ack(m));
  EXPECT_TRUE(eventually([&] { return server.outstanding(name) == 0; }));
  EXPECT_EQ(seen.arrived(), 1U);
}

/// Behind the gate nobody answers any more, and nobody says that the connection is gone.
TEST_F(on_fake, s4_a_dead_peer_is_noticed_by_probes_and_left) {
  test_support::tcp_relay gate(port_of(server.address()));
  broker b(project);
  b.emulator(gate.address()).keepalive(1s, 500ms);
  client c(b);
  waiting_sink seen;
  auto port = value_of(open(c, subscription("worker"), seen));
  gate.hold();
  ASSERT_TRUE(seen.told("interrupted: "));
  gate.release();
  ASSERT_TRUE(seen.told("resumed", 20s));
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(eventually([&] {
    if (incoming* const m = seen.next(100ms); m != nullptr) return ack(m);
    server.expire_leases(name); // it went to the stream that nobody reads any more
    return false;
  }));
  stop(std::move(port));
}

TEST(restart, a_server_that_comes_back_on_its_port_is_found_again) {
  auto server = std::make_unique<fake_pubsub>();
  const std::string address = server->address();
  const auto prepare = [&] {
    server->create_topic(topic_name("orders"));
    server->create_subscription({subscription_name("worker"), topic_name("orders")});
  };
  prepare();
  broker b(project);
  b.emulator(address);
  client c(b);
  waiting_sink seen;
  auto port = value_of(sync_wait(c.on().open(subscription("worker"), seen, {})));
  server.reset();
  ASSERT_TRUE(seen.told("interrupted: "));
  server = std::make_unique<fake_pubsub>(port_of(address));
  prepare();
  value_of(c.send("orders", "tea"));
  // The stream may meet the server before its subscription is there: then it has ended.
  if (incoming* const m = seen.next(15s); m != nullptr)
    EXPECT_TRUE(ack(m));
  else
    EXPECT_TRUE(seen.told("ended: ", 0ms));
  sync_wait(port->stop());
}

} // namespace
} // namespace millrace::pubsub::test
