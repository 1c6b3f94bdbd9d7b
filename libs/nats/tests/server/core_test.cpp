#include "client.hpp"
#include "nats_server.hpp"

namespace millrace::nats::test {
namespace {

class nats_core : public ::testing::Test {
 protected:
  nats_server server;
  pool_runtime rt{2};
};

// N3: once the subscription is open, a publisher on another connection cannot slip into the gap.
TEST_F(nats_core, N3_subscription_is_registered_when_it_is_open) {
  connected_broker one = connect(rt, server.url());
  connected_broker other = connect(rt, server.url());
  const auto port = value_of(other.pair(publish{}));
  collecting_sink sink;
  const auto subscription = open(one, subject("orders"), sink);
  ASSERT_TRUE(send(rt, *port, "orders", "first"));
  ASSERT_TRUE(sink.wait_for(1));
  EXPECT_EQ(sink.messages()[0].payload, "first");
  run(subscription->stop());
  ASSERT_TRUE(run(std::move(one).shutdown()));
  ASSERT_TRUE(run(std::move(other).shutdown()));
}

} // namespace
} // namespace millrace::nats::test
