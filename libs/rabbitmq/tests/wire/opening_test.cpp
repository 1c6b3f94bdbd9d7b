#include "wire/rig.hpp"

#include <gtest/gtest.h>

namespace millrace::rabbitmq::testing {
namespace {

using strings = std::vector<std::string>;

const strings handshake = {"connection.start-ok", "connection.tune-ok", "connection.open", "1 channel.open"};

detail::broker_settings declaring() {
  detail::broker_settings s;
  s.mode = topology::declare;
  s.prefetch = 50;
  return s;
}

queue full_queue() {
  return queue("orders")
      .bind(exchange_spec::topic("events"), "order.*")
      .bind(exchange_spec::fanout("amq.fanout"))
      .delay(delay::waiting_queue());
}

const strings full_opening = {
    "2 channel.open",
    "2 exchange.declare events topic",
    "2 queue.declare orders",
    "2 queue.bind orders events order.*",
    "2 queue.bind orders amq.fanout ",
    "2 queue.declare orders.retry",
    "2 basic.qos 50",
    "2 basic.consume orders",
};

/// Lifecycle R1, L1: nothing before connect; then the handshake and one publish channel.
TEST(rabbitmq_wire, R1_connects_and_opens_one_publish_channel) {
  rig r;
  EXPECT_TRUE(r.server->dialled.empty()); // L1
  ASSERT_TRUE(r.connect());
  EXPECT_EQ(r.seen(), handshake);
  EXPECT_EQ(r.server->dialled, strings{"one:5672"});
}

TEST(rabbitmq_wire, R2_2_R2_3_R2_4_R2_6_opens_in_the_order_of_the_rule) {
  rig r(declaring());
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  recording_sink to;
  ASSERT_TRUE(r.open(full_queue().spec(), to));
  EXPECT_EQ(r.seen(), full_opening);
}

/// R2.5 and R3: one passive look-up at start, between qos and consume, where the broker does not declare.
TEST(rabbitmq_wire, R2_5_R3_looks_the_delay_target_up) {
  rig r;
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  recording_sink to;
  const auto first = r.open(full_queue().prefetch(7).spec(), to);
  ASSERT_TRUE(first);
  EXPECT_EQ(r.seen(), (strings{"2 channel.open", "2 basic.qos 7", "2 queue.declare orders.retry passive",
                               "2 basic.consume orders"}));
  ASSERT_TRUE(r.open(queue("late").delay(delay::delayed_exchange("wait")).spec(), to));
  EXPECT_EQ(r.seen(),
            (strings{"3 channel.open", "3 exchange.declare wait x-delayed-message passive", "3 basic.consume late"}));
}

TEST(rabbitmq_wire, R2_5_a_missing_target_names_subscription_and_target) {
  rig r;
  r.server->answer = [](std::uint16_t channel, wire::method what, std::string& out) {
    if (what != wire::method::queue_declare) return false;
    out += channel_close(channel, 404, "NOT_FOUND - no queue 'orders.retry' in vhost 'shop'");
    return true;
  };
  ASSERT_TRUE(r.connect());
  recording_sink to;
  open_options options;
  options.subscription = "billing";
  auto opened = r.open(full_queue().spec(), to, options);
  ASSERT_FALSE(opened);
  const std::string text = opened.error().message();
  EXPECT_NE(text.find("'billing'"), std::string::npos) << text;
  EXPECT_NE(text.find("'orders.retry'"), std::string::npos) << text;
  EXPECT_EQ(opened.error().server_code(), 404);
  EXPECT_EQ(opened.error(), rabbitmq::errc::subscribe);
}

/// R2.1 is a pure check: no channel opens.
TEST(rabbitmq_wire, R2_1_a_quorum_queue_checks_its_redelivery_before_any_channel) {
  rig r;
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  recording_sink to;
  const quorum_queue plain("jobs");
  open_options options;
  options.max_attempts = 3;
  EXPECT_EQ(r.open(plain.spec(), to, options).error(), millrace::errc::invalid_options); // without dead_letter
  options.dead_letter = "jobs.dead";
  EXPECT_EQ(r.open(plain.spec(), to, options).error(), millrace::errc::invalid_options); // does not declare
  options.max_attempts.reset();
  EXPECT_EQ(r.open(plain.spec(), to, options).error(), millrace::errc::invalid_options); // without max_attempts
  EXPECT_TRUE(r.seen().empty());
  options.max_attempts = 3;
  EXPECT_TRUE(r.open(quorum_queue("jobs").with_topology(topology::declare).spec(), to, options));
}

TEST(rabbitmq_wire, R2_4_no_prefetch_sends_no_qos) {
  rig r;
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  recording_sink to;
  ASSERT_TRUE(r.open(queue("orders").spec(), to));
  EXPECT_EQ(r.seen(), (strings{"2 channel.open", "2 basic.consume orders"}));
}

TEST(rabbitmq_wire, R2_verify_looks_before_it_compares) {
  detail::broker_settings s;
  s.mode = topology::verify;
  rig r(s);
  r.server->answer = [](std::uint16_t channel, wire::method what, std::string& out) {
    if (what != wire::method::queue_declare) return false;
    out += channel_close(channel, 404, "NOT_FOUND - no queue 'orders'");
    return true;
  };
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  recording_sink to;
  auto opened = r.open(queue("orders").spec(), to);
  ASSERT_FALSE(opened);
  r.run();
  EXPECT_EQ(r.seen(), (strings{"2 channel.open", "2 queue.declare orders passive", "2 channel.close-ok"}));
  EXPECT_NE(opened.error().message().find("expected to exist"), std::string::npos);
}

/// The connection breaks instead of the answer to each request in turn: the opening ends with an error, and nothing
/// hangs.
TEST(rabbitmq_wire, R2_every_step_may_break) {
  for (int step = 0; step < static_cast<int>(full_opening.size()); ++step) {
    rig r(declaring());
    ASSERT_TRUE(r.connect());
    recording_sink to;
    r.server->vanish_at = step;
    r.server->refuse_dials = true;
    auto opened = r.open(full_queue().spec(), to);
    ASSERT_FALSE(opened) << step;
    EXPECT_EQ(opened.error(), millrace::errc::subscribe) << step;
    EXPECT_FALSE(r.shutdown());
  }
}

/// L2 and R1: the handshake breaks, or is refused, at each step.
TEST(rabbitmq_wire, R1_L2_every_step_of_the_handshake_may_break) {
  for (int step = 0; step < static_cast<int>(handshake.size()); ++step) {
    rig r;
    r.server->vanish_at = step;
    auto connected = r.connect();
    ASSERT_FALSE(connected) << step;
    EXPECT_EQ(connected.error(), millrace::errc::connect);
    EXPECT_EQ(connected.error().message().find("secret"), std::string::npos);
  }
}

/// Scenario 3: a refusal while the connection opens is an error at once, with the server's words.
TEST(rabbitmq_wire, R1_L2_a_refusal_is_an_error_with_the_servers_words) {
  rig r;
  r.server->answer = [](std::uint16_t, wire::method what, std::string& out) {
    if (what != wire::method::connection_open) return false;
    out += connection_close(530, "NOT_ALLOWED - vhost shop not found");
    return true;
  };
  auto connected = r.connect();
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().server_code(), 530);
  EXPECT_EQ(connected.error().server_text(), "NOT_ALLOWED - vhost shop not found");
  EXPECT_EQ(r.server->dialled.size(), 1U); // a refusal is no reason to ask the next host
}

TEST(rabbitmq_wire, R1_tries_the_next_host_and_gives_a_silent_one_up) {
  rig r;
  r.server->refuse_dials = true;
  EXPECT_FALSE(r.connect());
  EXPECT_EQ(r.server->dialled, (strings{"one:5672", "two:5672"}));
  rig silent;
  silent.server->silent = true;
  const auto connected = silent.connect(); // the virtual clock moves to the bound
  ASSERT_FALSE(connected);
  EXPECT_NE(connected.error().message().find("within the connect timeout"), std::string::npos);
}

/// Scenario 34.
TEST(rabbitmq_wire, a_connection_without_free_channels_refuses_the_subscription_and_lives_on) {
  rig r;
  r.server->channel_max = 2;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto first = r.open(queue("a").spec(), to);
  ASSERT_TRUE(first);
  auto second = r.open(queue("b").spec(), to);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find("no free channel"), std::string::npos);
  EXPECT_TRUE(to.told.empty());
}

} // namespace
} // namespace millrace::rabbitmq::testing
