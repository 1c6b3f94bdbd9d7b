// Against Google's own emulator: what a client does is what the service understands.
#include "pubsub_client.hpp"
#include "session/clients.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "waiting_sink.hpp"

#include <millrace/testing/conformance_gtest.hpp>

#include <cstdlib>

namespace millrace::pubsub::test {
namespace {

namespace conformance = testing::conformance;

std::string fresh(const std::string& prefix) {
  static std::atomic<int> count = 0;
  return prefix + "-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

/// PUBSUB_EMULATOR_HOST says where.
TEST(emulator, a_message_makes_the_round_trip_with_all_that_it_has) {
  client c{broker(project)};
  const std::string id = fresh("orders");
  waiting_sink seen;
  const auto port = value_of(sync_wait(c.on().open(subscription(id).create_with_topic(id), seen, {})));
  header_map headers;
  headers.set("Content-Type", "text/plain");
  const receipt sent = value_of(c.send(id, std::string("t\0a", 3), "customer-7", headers));
  incoming* const m = seen.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), std::string_view("t\0a", 3));
  EXPECT_EQ(m->headers().get("content-type"), "text/plain");
  EXPECT_EQ(m->partition_key(), "customer-7");
  EXPECT_EQ(*static_cast<const std::string_view*>(m->field(message_id)), sent.id);
  EXPECT_TRUE(ack(m));
}

TEST(emulator, a_retry_comes_back_and_a_drop_does_not) {
  client c{broker(project)};
  const std::string id = fresh("orders");
  waiting_sink seen;
  const auto port = value_of(sync_wait(c.on().open(subscription(id).create_with_topic(id), seen, {})));
  value_of(c.send(id, "1"));
  EXPECT_TRUE(settle(seen.next(), settlement_kind::retry));
  incoming* const again = seen.next();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(as_text(again->payload()), "1");
  EXPECT_TRUE(settle(again, settlement_kind::drop));
  value_of(c.send(id, "2"));
  incoming* const next = seen.next();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(as_text(next->payload()), "2");
  EXPECT_TRUE(ack(next));
}

/// A subscription without message ordering. The emulator moves no dead letters of one that has it, whatever the client
/// (0.8.20 ends the stream with UNKNOWN; so it does for @google-cloud/pubsub).
void create_unordered(runtime& rt, const std::string& topic, const std::string& id) {
  detail::settings settings;
  settings.project = project;
  const auto shared = std::make_shared<detail::connection>(rt, settings);
  shared->attach(value_of(sync_wait(detail::connect_grpc(rt, settings))));
  detail::topic_admin topics(*shared);
  detail::subscription_admin subscriptions(*shared);
  EXPECT_TRUE(value_of(sync_wait(topics.ensure(topic_name(topic), rt.now() + 10s))));
  wire::Subscription wanted;
  wanted.set_name(subscription_name(id));
  wanted.set_topic(topic_name(topic));
  EXPECT_TRUE(value_of(sync_wait(subscriptions.ensure(wanted, rt.now() + 10s))));
  EXPECT_TRUE(sync_wait(shared->shutdown()));
}

// P4, P5, P6
TEST(emulator, P5_attempts_are_counted_and_the_last_one_carries_the_message_to_the_dead_letter_topic) {
  client c{broker(project)};
  const std::string id = fresh("orders");
  const std::string dead = fresh("dead");
  open_options declared;
  declared.max_attempts = 5;
  declared.dead_letter = dead;
  waiting_sink letters;
  const auto reads = value_of(sync_wait(c.on().open(subscription(dead).create_with_topic(dead), letters, {})));
  create_unordered(c.rt, id, id);
  waiting_sink seen;
  const auto port = value_of(sync_wait(c.on().open(subscription(id).create_with_topic(id), seen, declared)));
  value_of(c.send(id, "poison"));
  for (std::uint32_t n = 1; n <= 5; ++n) {
    incoming* const m = seen.next();
    ASSERT_NE(m, nullptr) << n;
    EXPECT_EQ(m->delivery_count(), n);
    EXPECT_TRUE(settle(m, n < 5 ? settlement_kind::retry : settlement_kind::drop));
  }
  incoming* const letter = letters.next();
  ASSERT_NE(letter, nullptr);
  EXPECT_EQ(as_text(letter->payload()), "poison");
  EXPECT_TRUE(ack(letter));
  declared.max_attempts = 6; // and the policy is written where the subscription exists
  client other{broker(project)};
  waiting_sink second;
  EXPECT_TRUE(sync_wait(other.on().open(subscription(id), second, declared)));
}

TEST(emulator, ordered_messages_arrive_in_order) {
  client c{broker(project)};
  const std::string id = fresh("orders");
  waiting_sink seen;
  const auto port = value_of(sync_wait(c.on().open(subscription(id).create_with_topic(id), seen, {})));
  for (int i = 0; i < 20; ++i)
    value_of(c.send(id, std::to_string(i), "key"));
  for (int i = 0; i < 20; ++i) {
    incoming* const m = seen.next();
    ASSERT_NE(m, nullptr) << i;
    EXPECT_EQ(as_text(m->payload()), std::to_string(i));
    EXPECT_TRUE(ack(m));
  }
}

TEST(emulator, what_is_missing_is_an_error_that_names_it) {
  client c{broker(project)};
  waiting_sink seen;
  const auto missing = sync_wait(c.on().open(subscription("no-such-one"), seen, {}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().server_code(), 5) << missing.error().message();
  const auto refused = c.send("no-such-topic", "tea");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().server_code(), 5) << refused.error().message();
}

conformance::kit_ptr kit() {
  return conformance::kit_of<broker>({
      .name = "pubsub_emulator",
      .mode = conformance::run_mode::live,
      .can = {.settles = true,
              .requeues = true,
              .delays = true,
              .redelivers_unsettled = true,
              .groups = true,
              .shared = true},
      .make = [] { return broker(project); },
      .source = [](const std::string& name) { return subscription(name).create_with_topic(name); },
      .refused = [](const std::string& name) { return subscription(name); }, // there is no such subscription
      .quiet = 300ms,
      .key = [](std::string_view key, header_map&, publish::options& o) { o.ordering_key(std::string(key)); },
  });
}

TEST(emulator, L1_L2_L3_L4_are_checked_by_the_conformance_suites) {
  for (const char* rule : {"L1", "L2", "L3", "L4"})
    EXPECT_TRUE(conformance::proves(*kit(), rule)) << rule;
}

[[maybe_unused]] const bool registered = conformance::register_checks({kit()});

} // namespace
} // namespace millrace::pubsub::test
