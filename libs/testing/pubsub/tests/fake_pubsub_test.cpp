// The fake Pub/Sub server as a user's tests have it. What it keeps of the service's rules is tested with Pub/Sub.
#include <millrace/millrace.hpp>
#include <millrace/pubsub.hpp>
#include <millrace/testing.hpp>
#include <millrace/testing/pubsub.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>

namespace fake_pubsub_test {
namespace {

using millrace::testing::fake_pubsub;

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))

/// Runs `f` and answers what it throws, which must be an `Error`.
template <class Error, class F> std::string thrown(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing of the kind was thrown";
}

TEST(fake_pubsub_server, a_service_gets_over_a_publish_that_fails) {
  fake_pubsub server;
  server.create_topic("projects/my-project/topics/orders");
  server.create_subscription({"projects/my-project/subscriptions/billing", "projects/my-project/topics/orders"});
  server.fail_next("Publish", 14, 2); // UNAVAILABLE, twice

  millrace::service app{{.title = "billing"}};
  auto on = app.with_broker(millrace::pubsub::broker{"my-project"}.emulator(server.address()));
  on.subscribe("billing", [](const order& /*paid*/) {});
  millrace::testing::test_service t(app, millrace::testing::live{});
  t.publish("orders", order{1});
  t.wait_for("billing", 1);
  EXPECT_EQ(server.calls("Publish"), 3U);
}

TEST(fake_pubsub_server, a_port_that_is_taken_is_named) {
  const fake_pubsub first;
  const std::string port = first.address().substr(first.address().rfind(':') + 1);
  const auto second = [&] { const fake_pubsub server(static_cast<std::uint16_t>(std::stoi(port))); };
  EXPECT_EQ(thrown<std::runtime_error>(second), "the fake Pub/Sub server cannot listen on port " + port);
}

TEST(fake_pubsub_server, a_method_that_does_not_exist_is_named) {
  fake_pubsub server;
  const std::string expected = "fake Pub/Sub: there is no method \"Publsh\"";
  EXPECT_EQ(thrown<std::invalid_argument>([&] { server.fail_next("Publsh", 14); }), expected);
  EXPECT_EQ(thrown<std::invalid_argument>([&] { std::ignore = server.calls("Publsh"); }), expected);
  server.create_topic("projects/my-project/topics/orders"); // it is usable afterwards
}

TEST(fake_pubsub_server, what_the_service_refuses_is_named) {
  fake_pubsub server;
  const std::string topic = "projects/my-project/topics/orders";
  server.create_topic(topic);
  const std::string twice = thrown<std::runtime_error>([&] { server.create_topic(topic); });
  EXPECT_NE(twice.find(topic), std::string::npos) << twice;
  const std::string gone = thrown<std::runtime_error>([&] { server.delete_topic("projects/my-project/topics/none"); });
  EXPECT_NE(gone.find("projects/my-project/topics/none"), std::string::npos) << gone;
}

} // namespace
} // namespace fake_pubsub_test
