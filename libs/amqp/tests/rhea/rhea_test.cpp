// A small broker on rhea, an implementation of the protocol that shares nothing with Proton's engine: every outcome,
// and what an encoder of another project makes.
#include "support/client.hpp"
#include "support/cut_everywhere.hpp"
#include "support/live_server.hpp"
#include "support/queue_kit.hpp"
#include "support/take_all.hpp"

#include <millrace/testing/conformance_gtest.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace millrace::amqp::testing {
namespace {

namespace conformance = millrace::testing::conformance;

live_server& server() {
  static live_server one("rhea");
  return one;
}

TEST(amqp_rhea, A2_A3_A5_outcomes_and_counts) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  const std::string address = fresh_name("outcomes");
  waiting_sink to;
  auto open = c.open(queue(address), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(publish());
  ASSERT_TRUE(c.send(*port, address, "one"));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->delivery_count(), 1U);
  EXPECT_TRUE(settle(m, settlement_kind::retry));
  m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->delivery_count(), 2U);
  m->release(); // unsettled: no attempt
  m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->delivery_count(), 2U);
  EXPECT_TRUE(settle(m, settlement_kind::drop));
  waiting_sink dead;
  const auto letters = c.open(queue(address + ".dlq"), dead);
  ASSERT_TRUE(letters);
  m = dead.next();
  EXPECT_EQ(text_of(m), "one");
  EXPECT_TRUE(settle(m));
  open->reset();
  const auto closed = c.shutdown();
  ASSERT_TRUE(closed) << closed.error().message();
  EXPECT_TRUE(closed->orderly());
}

/// Scenario 20: what is not accepted is an error, with the peer's words.
TEST(amqp_rhea, every_other_outcome_is_an_error) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  const auto port = c.pair(publish());
  for (const auto& [address, word] :
       {std::pair{"rejects.", "amqp:resource-limit-exceeded"}, {"releases.", "released"}, {"modifies.", "modified"}}) {
    const auto sent = c.send(*port, address + fresh_name("x"), "x");
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error(), amqp::errc::not_accepted);
    EXPECT_NE(sent.error().message().find(word), std::string::npos) << sent.error().message();
  }
}

/// Scenario 31, section 9 of the specification: bodies without bytes are rejected once each, the others arrive,
/// whatever their types.
TEST(amqp_rhea, what_another_encoder_makes_arrives_or_is_rejected) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  const std::string address = "foreign." + fresh_name("types");
  waiting_sink to;
  const auto open = c.open(queue(address), to);
  ASSERT_TRUE(open);
  std::map<std::string, incoming*> seen;
  while (!seen.contains("last")) {
    incoming* const m = to.next();
    ASSERT_NE(m, nullptr);
    seen.emplace(text_of(m), m);
  }
  EXPECT_EQ(seen.size(), 6U);
  EXPECT_TRUE(seen.contains("a string"));
  EXPECT_TRUE(seen.contains("two sections"));
  EXPECT_EQ(seen.at("uuid")->headers().get("message-id"), "00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(seen.at("ulong")->headers().get("correlation-id"), "7");
  incoming& typed = *seen.at("typed");
  for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>{"yes", "true"},
                                    {"int", "-5"},
                                    {"ulong", "9"},
                                    {"double", "0.5"},
                                    {"symbol", "s"},
                                    {"time", "1000"},
                                    {"binary", "\1\2"}})
    EXPECT_EQ(typed.headers().get(name), value) << name;
  EXPECT_EQ(typed.partition_key(), "a group");
  EXPECT_EQ(*static_cast<const std::string_view*>(typed.field(message_subject)), "a subject");
  for (const auto& [text, m] : seen)
    EXPECT_TRUE(settle(m));
  waiting_sink rejected;
  const auto letters = c.open(queue(address + ".dlq"), rejected);
  ASSERT_TRUE(letters);
  for (const char* body : {R"(["a","list"])", R"({"a":"map"})", "42"}) {
    incoming* const m = rejected.next();
    EXPECT_EQ(text_of(m), body);
    EXPECT_TRUE(settle(m));
  }
  EXPECT_TRUE(settle(rejected.next())); // the sequence
  EXPECT_EQ(rejected.next(50ms), nullptr);
}

/// Scenario 4.
TEST(amqp_rhea, A3_A4_a_missing_node_is_named) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  waiting_sink to;
  const std::string address = "fixed." + fresh_name("missing");
  const auto open = c.open(queue(address), to);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error(), amqp::errc::attach);
  EXPECT_NE(open.error().message().find(address), std::string::npos);
  EXPECT_TRUE(open.error().server_text().starts_with("amqp:not-found")) << open.error().message();
  const auto sent = c.send(*c.pair(publish()), address, "x");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), amqp::errc::attach) << sent.error().message();
}

/// Scenario 14.
TEST(amqp_rhea, a_message_over_the_peers_limit_is_refused_here) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  const auto port = c.pair(publish());
  const std::string address = "small." + fresh_name("limit");
  ASSERT_TRUE(c.send(*port, address, "x"));
  const auto sent = c.send(*port, address, std::string(2000, 'x'));
  ASSERT_FALSE(sent);
  EXPECT_NE(sent.error().message().find("(1000)"), std::string::npos) << sent.error().message();
  EXPECT_TRUE(c.send(*port, address, "x"));
}

/// Scenario 32.
TEST(amqp_rhea, A2_a_wrong_password_is_refused_and_not_shown) {
  std::string url = server().url();
  url.replace(url.find(":millrace@"), 10, ":hunter2@");
  client c{broker(url)};
  ASSERT_FALSE(c.connected());
  EXPECT_NE(c.failure().message().find("SASL"), std::string::npos) << c.failure().message();
  EXPECT_EQ(c.failure().message().find("hunter2"), std::string::npos);
}

/// Scenario 17.
TEST(amqp_rhea, a_megabyte_goes_round) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  const std::string address = fresh_name("large");
  waiting_sink to;
  const auto open = c.open(queue(address), to);
  ASSERT_TRUE(open);
  std::string large(1'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 7)
    large[i] = static_cast<char>(i);
  ASSERT_TRUE(c.send(*c.pair(publish()), address, large));
  incoming* const m = to.next();
  EXPECT_EQ(text_of(m), large);
  EXPECT_TRUE(settle(m));
}

/// What is published while nobody reads waits for the durable subscription; a topic without one keeps nothing.
TEST(amqp_rhea, a_durable_subscription_waits_for_its_reader) {
  const std::string address = fresh_name("durable");
  const std::string container = fresh_name("container");
  waiting_sink to;
  {
    client c(broker(server().url()).container_id(container));
    const auto open = c.open(topic(address).durable("audit"), to);
    ASSERT_TRUE(open) << open.error().message();
    ASSERT_TRUE(c.shutdown());
  }
  client c(broker(server().url()).container_id(container));
  ASSERT_TRUE(c.send(*c.pair(publish().to(node_kind::topic)), address, "missed"));
  const auto open = c.open(topic(address).durable("audit"), to);
  ASSERT_TRUE(open);
  incoming* const m = to.next();
  EXPECT_EQ(text_of(m), "missed");
  EXPECT_TRUE(settle(m));
}

TEST(amqp_rhea, a_cut_at_every_step_loses_nothing_that_was_accepted) {
  cut_everywhere(server().url(), [](const std::string& name) { return name; }).run(24);
}

/// Scenarios 10, 12, 24: the server is there and answers nothing (SIGSTOP), and goes on later.
TEST(amqp_rhea, a_stopped_server_bounds_the_publish_and_loses_nothing) {
  own_server own("rhea");
  client c(broker(own.url()).idle_timeout(1s).connect_timeout(1s).publish_timeout(300ms).backoff(10ms, 50ms));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  const std::string address = fresh_name("stopped");
  waiting_sink to;
  const auto open = c.open(queue(address), to);
  ASSERT_TRUE(open);
  const auto port = c.pair(publish());
  std::set<std::string> accepted;
  for (const char* text : {"1", "2", "3"})
    if (c.send(*port, address, text)) accepted.insert(text);
  ASSERT_EQ(accepted.size(), 3U);
  incoming* const held = to.next();
  ASSERT_NE(held, nullptr);
  own.freeze();
  const auto sent = c.send(*port, address, "unknown");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), millrace::errc::timeout);
  ASSERT_TRUE(to.told("interrupted"));
  EXPECT_EQ(held->settle({}).error(), millrace::errc::closed);
  held->release();
  while (incoming* const old = to.next(0ms)) // they came over the lost link
    old->release();
  own.thaw();
  ASSERT_TRUE(to.told("resumed"));
  ASSERT_NO_FATAL_FAILURE(take_all(to, std::move(accepted)));
  EXPECT_TRUE(c.send(*port, address, "after"));
}

[[maybe_unused]] const bool registered = conformance::register_checks({queue_kit("amqp_rhea", server, 100ms)});

} // namespace
} // namespace millrace::amqp::testing
