// What descriptors, options and addresses say, and a server makes of it.
#include "server/live_server.hpp"
#include "server/parity_script.hpp"

#include <gtest/gtest.h>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

TEST(rabbitmq_descriptors, a_consumer_of_higher_priority_is_served_first) {
  client c;
  waiting_sink low;
  waiting_sink high;
  const std::string name = fresh_name("priority");
  const queue described = queue(name).argument("x-expires", 60'000).with_topology(topology::declare).prefetch(10);
  const auto first = c.open(queue(described), low);
  const auto second = c.open(queue(described).consumer_priority(5), high);
  ASSERT_TRUE(first && second);
  const auto port = c.pair(confirms());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(c.send(*port, name, "x"));
    EXPECT_TRUE(settle(high.next()));
  }
  EXPECT_EQ(low.next(0ms), nullptr);
}

TEST(rabbitmq_descriptors, an_exclusive_consumer_stays_alone) {
  client c;
  waiting_sink to;
  waiting_sink late;
  const std::string name = fresh_name("alone");
  const queue described = queue(name).argument("x-expires", 60'000).with_topology(topology::declare);
  const auto only = c.open(queue(described).exclusive_consumer(), to);
  ASSERT_TRUE(only) << only.error().message();
  const auto other = c.open(queue(described), late);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().server_code(), 403);
  ASSERT_TRUE(c.send(*c.pair(confirms()), name, "x"));
  EXPECT_TRUE(settle(to.next()));
}

/// R2.3, the mode that only looks: what is missing or differs ends the start and says what to do; nothing is created.
TEST(rabbitmq_descriptors, R2_3_verify_tells_what_is_missing_and_what_differs) {
  client c;
  waiting_sink unused;
  const std::string name = fresh_name("verified");
  const queue described = queue(name).argument("x-expires", 60'000);
  for (int i = 0; i < 2; ++i) { // the first look created nothing
    const auto missing = c.open(queue(described).with_topology(topology::verify), unused);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().server_code(), 404);
    EXPECT_NE(missing.error().message().find("'" + name + "': expected to exist"), std::string::npos)
        << missing.error().message();
  }
  ASSERT_TRUE(c.open(queue(described).with_topology(topology::declare), unused));
  EXPECT_TRUE(c.open(queue(described).with_topology(topology::verify), unused));
  const auto differs = c.open(queue(described).argument("x-max-length", 5).with_topology(topology::verify), unused);
  ASSERT_FALSE(differs);
  EXPECT_EQ(differs.error().server_code(), 406);
  EXPECT_NE(differs.error().message().find("it exists with other settings"), std::string::npos)
      << differs.error().message();
}

/// The returns that a quorum queue allows by itself; then the message goes where its dead letters go.
TEST(rabbitmq_descriptors, a_delivery_limit_buries_after_that_many_returns) {
  client c;
  waiting_sink to;
  waiting_sink dead;
  const std::string name = fresh_name("limit");
  const auto graveyard = c.open(client::temporary(name + ".dead"), dead);
  const auto open = c.open(quorum_queue(name)
                               .argument("x-expires", 60'000)
                               .delivery_limit(1)
                               .dead_letter_exchange("")
                               .dead_letter_routing_key(name + ".dead")
                               .with_topology(topology::declare),
                           to);
  ASSERT_TRUE(graveyard && open);
  ASSERT_TRUE(c.send(*c.pair(confirms()), name, "x"));
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(settle(to.next(), settlement_kind::retry));
  EXPECT_TRUE(settle(dead.next()));
}

TEST(rabbitmq_descriptors, properties_of_one_message_arrive) {
  client c;
  const std::string name = fresh_name("properties");
  script reader(net::make_tcp_transport(nullptr, detail::read_room), live_server::shared().url(), name);
  detail::queue_flags gone_with_us;
  gone_with_us.exclusive = true;
  reader.open(1).queue(1, "", gone_with_us, {}).consume(1, "");
  message_options options;
  options.priority = 7;
  options.expiration = 90s;
  options.persistent = false;
  options.timestamp = std::chrono::sys_seconds(1'700'000'000s);
  options.type = "invoice";
  options.app_id = "billing";
  ASSERT_TRUE(c.send(*c.pair(confirms()), name, "x", nullptr, &options));
  const std::string line = reader.expect(1).transcript().back();
  for (const char* part : {"mode 1", "expiration 90000", "at 1700000000 invoice billing", "priority 7"})
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
}

TEST(rabbitmq_descriptors, without_mandatory_an_unroutable_message_is_a_success) {
  client c;
  const std::string nowhere = fresh_name("nowhere");
  EXPECT_TRUE(c.send(*c.pair(confirms().mandatory(false)), nowhere, "x"));
  EXPECT_EQ(c.send(*c.pair(confirms()), nowhere, "x").error().server_code(), 312);
}

/// R1: the addresses are tried in turn.
TEST(rabbitmq_descriptors, R1_the_next_address_is_dialled_where_nobody_listens) {
  std::string url = live_server::shared().url();
  url.insert(url.find('@') + 1, "127.0.0.1:1,");
  client c{broker(url)};
  ASSERT_TRUE(c.connected()) << c.failure().message();
  EXPECT_TRUE(c.send(*c.pair(confirms().mandatory(false)), fresh_name("nowhere"), "x"));
}

} // namespace
} // namespace millrace::rabbitmq::testing
