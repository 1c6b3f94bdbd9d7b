// Connecting and shutting down. "s1" to "s37" are the rows of the specification's list.
#include "fake_fixture.hpp"

#include <millrace/service.hpp>

#include <cstdlib>
#include <fstream>

namespace millrace::pubsub::test {
namespace {

using lifecycle = on_fake;

TEST_F(lifecycle, P2_connect_calls_no_method) {
  client c(at(server));
  for (const char* method : {"GetTopic", "GetSubscription", "Publish", "StreamingPull"})
    EXPECT_EQ(server.calls(method), 0U);
}

// P1, P10
TEST_F(lifecycle, P1_a_publisher_from_before_the_start_shares_the_connection_P10_and_answers_before_and_after_it) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(at(server));
  const auto out = on.publisher();
  pool_runtime rt(1);
  const auto send = [](publisher<publish> p) -> task<result<receipt>> {
    auto sent = co_await p.text("tea").to("orders");
    co_return sent;
  };
  EXPECT_EQ(sync_wait(send(out)).error(), millrace::errc::not_connected);
  auto running = value_of(app.start());
  EXPECT_TRUE(sync_wait(send(out)));
  value_of(running.shutdown());
  EXPECT_EQ(sync_wait(send(out)).error(), millrace::errc::not_connected);
  EXPECT_EQ(sync_wait(send(out)).error(), millrace::errc::closed);
  EXPECT_EQ(server.waiting(name), 1U);
}

TEST_F(lifecycle, P8_s25_a_shutdown_sends_what_was_batched) {
  broker b = at(server);
  b.batches(batching().delay(1h));
  client c(b);
  server.slow_down("Publish", 50ms);
  many_sends sends(c);
  for (int i = 0; i < 500; ++i)
    sends.add("orders", "m", i % 3 == 0 ? "key" : "");
  value_of(c.shutdown());
  EXPECT_EQ(sends.accepted(), 500U);
  EXPECT_EQ(server.waiting(name), 500U);
}

TEST_F(lifecycle, P8_s26_a_flush_that_gets_no_answer_is_bounded_and_reported) {
  broker b = at(server);
  b.shutdown_timeout(300ms);
  client c(b);
  server.hold("Publish");
  many_sends sends(c);
  for (int i = 0; i < 3; ++i)
    sends.add("orders", "m");
  const auto began = std::chrono::steady_clock::now();
  const auto closed = c.shutdown();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error(), millrace::errc::shutdown);
  EXPECT_TRUE(closed.error().context().contains("3 published messages")) << closed.error().context();
  EXPECT_EQ(sends.accepted(), 0U);
  server.hold("Publish", false);
}

TEST_F(lifecycle, what_is_held_at_a_shutdown_comes_back_at_once_and_settles_no_more) {
  client c(at(server));
  waiting_sink seen;
  auto port = value_of(open(c, subscription("worker"), seen));
  value_of(c.send("orders", "tea"));
  incoming* const held = seen.next();
  ASSERT_NE(held, nullptr);
  stop(std::move(port));
  value_of(c.shutdown());
  EXPECT_EQ(server.waiting(name), 1U);
  const result<void> late = held->settle({settlement_kind::ack, {}});
  held->release();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), millrace::errc::closed);
  EXPECT_EQ(server.waiting(name), 1U);
}

/// A program that gives its broker up without a shutdown, while calls and a stream are under way, goes on.
TEST_F(lifecycle, L4_a_connection_that_is_given_up_while_it_works_ends_by_itself) {
  for (int round = 0; round < 30; ++round) {
    client c(at(server));
    waiting_sink seen;
    auto port = value_of(open(c, subscription("worker"), seen));
    many_sends sends(c);
    for (int i = 0; i < 50; ++i)
      sends.add("orders", "tea");
    incoming* const held = seen.next();
    ASSERT_NE(held, nullptr);
    c.publisher.reset();
    c.drop();
    port.reset();
    for (const auto& one : sends.wait())
      EXPECT_TRUE(*one || one->error() == errc::publish);
    seen.release_all();
    EXPECT_FALSE(ack(held));
  }
}

TEST(connecting, nobody_there_is_an_error_that_names_the_host) {
  std::string address;
  {
    const fake_pubsub gone;
    address = gone.address();
  }
  pool_runtime rt(1);
  broker b(project);
  b.emulator(address);
  auto refused = sync_wait(std::move(b).connect(rt));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), millrace::errc::connect);
  EXPECT_TRUE(refused.error().context().contains(address));
}

TEST(connecting, a_bad_project_is_refused_before_anything) {
  pool_runtime rt(1);
  auto refused = sync_wait(broker("No").connect(rt));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), millrace::errc::connect);
  EXPECT_TRUE(refused.error().context().contains("'No'"));
}

TEST(connecting, credentials_that_cannot_be_read_are_named_and_not_shown) {
  pool_runtime rt(1);
  broker missing(project);
  missing.credentials(credentials::service_account_file("/nonexistent/key.json"));
  auto refused = sync_wait(std::move(missing).connect(rt));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().context().contains("/nonexistent/key.json"));
  const std::string path = ::testing::TempDir() + "/not-a-key.json";
  std::ofstream(path) << "{\"private_key\": \"secret-text\"}";
  broker bad(project);
  bad.credentials(credentials::service_account_file(path));
  refused = sync_wait(std::move(bad).connect(rt));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().context().contains(path));
  EXPECT_FALSE(refused.error().message().contains("secret-text"));
}

TEST(connecting, the_environment_names_an_emulator_where_nothing_else_is_said) {
  setenv("PUBSUB_EMULATOR_HOST", "emulator.example:1", 1);
  EXPECT_EQ(broker(project).describe(), "emulator.example:1");
  broker endpoint(project);
  EXPECT_EQ(endpoint.endpoint("eu.example").describe(), "eu.example");
  broker with_credentials(project);
  with_credentials.credentials(credentials::application_default());
  EXPECT_EQ(with_credentials.describe(), "pubsub.googleapis.com");
  broker named(project);
  EXPECT_EQ(named.emulator("other.example:2").describe(), "other.example:2");
  unsetenv("PUBSUB_EMULATOR_HOST");
  EXPECT_EQ(broker(project).describe(), "pubsub.googleapis.com");
}

TEST(connecting, a_copy_of_a_broker_is_live_or_in_process_as_the_first_one) {
  const fake_pubsub server;
  pool_runtime rt(1);
  broker b(project);
  b.emulator(server.address());
  broker copy = b;
  broker second = b;
  auto live = sync_wait(std::move(b).connect(rt));
  ASSERT_TRUE(live);
  EXPECT_EQ(sync_wait(std::move(copy).connect_in_process(rt)).error(), millrace::errc::connect);
  EXPECT_TRUE(sync_wait(std::move(second).connect(rt)));
  broker inside(project);
  broker its_copy = inside;
  EXPECT_TRUE(sync_wait(std::move(inside).connect_in_process(rt)));
  EXPECT_EQ(sync_wait(std::move(its_copy).connect(rt)).error(), millrace::errc::connect);
}

} // namespace
} // namespace millrace::pubsub::test
