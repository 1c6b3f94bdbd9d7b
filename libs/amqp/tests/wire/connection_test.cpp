// The connection against a scripted peer: login, failover, recovery, idle timeouts.
#include "wire/rig.hpp"

#include <proton/link.h>

#include <algorithm>

namespace millrace::amqp::testing {
namespace {

/// Scenario 32: once, with SASL in the text and the password not.
TEST(amqp_connection, A2_a_login_without_a_common_mechanism_is_refused) {
  peer_script strict;
  strict.mechanisms = "EXTERNAL";
  rig r(strict, patient(), "amqp://user:hunter2@one,two");
  const auto connected = r.connect();
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error(), millrace::errc::connect);
  EXPECT_NE(connected.error().message().find("SASL"), std::string::npos) << connected.error().message();
  EXPECT_EQ(connected.error().message().find("hunter2"), std::string::npos);
  EXPECT_EQ(r.dialled.size(), 1U); // another host would say the same
}

TEST(amqp_connection, A2_nobody_there_is_an_error_of_connect_after_all_hosts) {
  rig r;
  r.nobody_there = true;
  const auto connected = r.connect();
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error(), millrace::errc::connect);
  EXPECT_EQ(r.dialled, (strings{"one", "two"}));
}

TEST(amqp_connection, A2_a_peer_that_closes_while_opening_is_an_error_of_connect) {
  peer_script closing;
  rig r(closing);
  r.script.on_begin = [&](pn_session_t*) { r.peer->close("amqp:unauthorized-access"); };
  const auto connected = r.connect();
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error(), millrace::errc::connect);
  EXPECT_NE(connected.error().message().find("amqp:unauthorized-access"), std::string::npos);
}

/// Scenario 30: a peer that hangs up in the middle of an attach.
TEST(amqp_connection, A3_a_hang_up_during_the_attach_is_an_error_with_the_address) {
  rig r;
  r.script.on_attach = [&](pn_link_t*) { r.peer->gone = true; };
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("a"), to);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message().find("'a'"), std::string::npos);
}

/// Scenario 13: everything is told, and comes back on the next host.
TEST(amqp_connection, a_closed_connection_is_restored_on_another_host) {
  rig r;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("a"), to);
  ASSERT_TRUE(open);
  r.script.on_transfer = nullptr;
  const auto publisher = r.port();
  r.peer->close("amqp:connection:forced");
  r.run();
  ASSERT_EQ(to.told.size(), 1U);
  EXPECT_NE(to.told[0].find("amqp:connection:forced"), std::string::npos);
  sent_message waiting(*publisher, r.rt, "out", "x"); // waits for the connection
  r.advance(500ms);
  EXPECT_EQ(r.dialled, (strings{"one", "two"}));
  EXPECT_EQ(to.told.back(), "resumed");
  EXPECT_EQ(waiting.failure(), "");
  r.peer->send("a", data_message("again"));
  r.run();
  EXPECT_EQ(to.held.size(), 1U);
  EXPECT_TRUE(r.shutdown());
}

TEST(amqp_connection, attempts_have_pauses_that_grow) {
  rig r;
  ASSERT_TRUE(r.connect());
  r.nobody_there = true;
  r.peer->gone = true;
  r.run();
  r.advance(60s);
  const std::size_t attempts = r.dialled.size() - 1;
  EXPECT_GE(attempts, 8U);
  EXPECT_LE(attempts, 25U);
  r.nobody_there = false;
  r.advance(10s);
  sent_message one(*r.port(), r.rt, "out", "x");
  r.run();
  EXPECT_EQ(one.failure(), "");
}

/// Scenario 10: the peer is told why.
TEST(amqp_connection, a_silent_peer_is_given_up) {
  detail::broker_settings settings;
  settings.idle_timeout = 10s;
  rig r({}, settings);
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("a"), to);
  ASSERT_TRUE(open);
  r.advance(9s);
  EXPECT_TRUE(to.told.empty());
  r.advance(12s);
  ASSERT_FALSE(to.told.empty());
  EXPECT_NE(to.told[0].find("resource-limit-exceeded"), std::string::npos) << to.told[0];
}

/// Scenario 11: empty frames at no more than half of what the peer asks for; none where it asks for nothing.
TEST(amqp_connection, the_peers_idle_timeout_is_kept) {
  peer_script asking;
  asking.idle_timeout = 10'000;
  rig r(asking);
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  r.advance(61s);
  const strings seen = r.seen();
  EXPECT_GE(std::ranges::count(seen, "empty"), 12);
  EXPECT_LE(std::ranges::count(seen, "empty"), 31);
  rig calm;
  ASSERT_TRUE(calm.connect());
  (void)calm.seen();
  calm.advance(600s);
  EXPECT_TRUE(calm.seen().empty());
}

/// Section 16 of the specification: an explicit profile wins over the URL's login.
TEST(amqp_connection, A1_an_explicit_profile_wins_over_the_url) {
  detail::broker_settings settings = patient();
  settings.login = sasl::anonymous();
  peer_script anonymous_only;
  anonymous_only.mechanisms = "ANONYMOUS";
  rig r(anonymous_only, settings, "amqp://user:secret@one");
  EXPECT_TRUE(r.connect());
}

/// Requests share a dynamic address, and are answered by correlation id.
TEST(amqp_connection, requests_need_dynamic_nodes) {
  peer_script rabbit;
  rabbit.product = "RabbitMQ";
  rabbit.version = "3.10.8";
  rig r(rabbit);
  ASSERT_TRUE(r.connect());
  const auto answer = r.rt.drive(r.port()->request({"prices", as_bytes("?"), nullptr, nullptr}, 5s));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), millrace::errc::unsupported);
}

} // namespace
} // namespace millrace::amqp::testing
