#include "wire/rig.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;
using strings = std::vector<std::string>;

std::shared_ptr<publish_port> plain_port(rig& r) { return *connected_broker(r.session).pair(publish()); }
std::shared_ptr<publish_port> confirming_port(rig& r, confirms policy = {}) {
  return *connected_broker(r.session).pair(policy);
}

std::string confirm(std::uint16_t channel, std::uint64_t tag, bool multiple,
                    wire::method what = wire::method::basic_ack) {
  return server_method(channel, what, [&](wire::writer& w) {
    w.u64(tag);
    w.u8(multiple ? 1 : 0);
  });
}

std::string no_route(std::uint16_t channel, std::string_view key) {
  std::string out = server_method(channel, wire::method::basic_return, [&](wire::writer& w) {
    w.u16(312);
    w.short_string("NO_ROUTE");
    w.short_string("");
    w.short_string(key);
  });
  wire::frame_writer header(out, wire::frame_type::header, channel);
  header.u32(60 << 16);
  header.u64(0);
  header.u16(0);
  header.end();
  return out;
}

/// R4: the plain publish uses the channel that connect opened; a confirming one opens its own with its first publish.
TEST(rabbitmq_wire, R4_a_channel_opens_with_its_first_use) {
  rig r;
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  const auto plain = plain_port(r);
  const auto confirming = confirming_port(r);
  r.run();
  EXPECT_TRUE(r.seen().empty());
  sent_message one(*plain, r.rt, "orders", "x");
  EXPECT_TRUE(one.ended()); // handed over
  r.run();
  EXPECT_EQ(r.seen(), strings{"1 basic.publish '' orders"});
  sent_message two(*confirming, r.rt, "orders", "y");
  r.run();
  EXPECT_EQ(r.seen(), (strings{"2 channel.open", "2 confirm.select", "2 basic.publish '' orders mandatory"}));
  EXPECT_FALSE(two.ended());
  r.server->say(confirm(2, 1, false));
  r.run();
  EXPECT_TRUE(two.ended());
  EXPECT_EQ(two.failure(), "");
}

TEST(rabbitmq_wire, confirms_are_pipelined_and_one_answer_may_end_many) {
  rig r;
  ASSERT_TRUE(r.connect());
  const auto port = confirming_port(r);
  std::deque<sent_message> all;
  for (int i = 0; i < 10; ++i)
    all.emplace_back(*port, r.rt, "orders", "x");
  r.run();
  r.server->say(confirm(2, 2, false) + confirm(2, 5, false, wire::method::basic_nack) + confirm(2, 9, true));
  r.run();
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_TRUE(all[i].ended()) << i;
  EXPECT_FALSE(all[9].ended());
  EXPECT_EQ(all[0].failure(), "");
  EXPECT_NE(all[4].failure().find("refused"), std::string::npos); // scenario 10
  EXPECT_EQ(all[8].failure(), "");
  r.server->vanish(); // scenario 2: what is in flight ends, it does not hang
  r.run();
  ASSERT_TRUE(all[9].ended());
  EXPECT_NE(all[9].failure().find("channel was lost"), std::string::npos);
}

/// Scenario 9.
TEST(rabbitmq_wire, an_unroutable_message_is_an_error_though_the_server_confirms_it) {
  rig r;
  ASSERT_TRUE(r.connect());
  const auto port = confirming_port(r);
  sent_message lost(*port, r.rt, "nowhere", "x");
  sent_message kept(*port, r.rt, "orders", "x");
  r.run();
  r.server->say(no_route(2, "nowhere") + confirm(2, 2, true));
  r.run();
  ASSERT_TRUE(lost.ended() && kept.ended());
  const std::string why = lost.failure();
  EXPECT_NE(why.find("'nowhere'"), std::string::npos) << why;
  EXPECT_NE(why.find("312 NO_ROUTE"), std::string::npos) << why;
  EXPECT_EQ(kept.failure(), "");
}

TEST(rabbitmq_wire, the_confirm_window_is_bounded_and_a_silent_server_ends_the_wait) {
  rig r;
  r.settings.publish_timeout = 3s;
  ASSERT_TRUE(r.connect());
  const auto port = confirming_port(r, confirms().window(2));
  std::deque<sent_message> all;
  for (int i = 0; i < 4; ++i)
    all.emplace_back(*port, r.rt, "orders", "x");
  r.run();
  EXPECT_EQ(r.server->bodies.size(), 2U);
  r.server->say(confirm(2, 1, false));
  r.run();
  EXPECT_EQ(r.server->bodies.size(), 3U);
  r.advance(4s);
  for (auto& one : all)
    ASSERT_TRUE(one.ended());
  EXPECT_EQ(all[0].failure(), "");
  EXPECT_NE(all[1].failure().find("did not answer"), std::string::npos);
  EXPECT_NE(all[3].failure().find("was not sent"), std::string::npos);
}

/// Scenarios 7 and 8: the server closes the publish channel; the next publish goes through a new one.
TEST(rabbitmq_wire, a_publish_channel_that_the_server_closes_opens_again) {
  rig r;
  ASSERT_TRUE(r.connect());
  const auto port = plain_port(r);
  (void)r.seen();
  r.server->say(channel_close(1, 404, "NOT_FOUND - no exchange 'gone'"));
  r.run();
  EXPECT_EQ(r.seen(), (strings{"1 channel.close-ok", "1 channel.open"}));
  sent_message next(*port, r.rt, "orders", "x");
  r.run();
  EXPECT_TRUE(next.ended());
  EXPECT_EQ(r.seen(), strings{"1 basic.publish '' orders"});
}

TEST(rabbitmq_wire, acks_go_out_one_by_one_in_one_write) {
  rig r;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("orders").spec(), to);
  ASSERT_TRUE(open);
  for (std::uint64_t tag = 1; tag <= 3; ++tag)
    r.server->deliver(2, tag, "orders", "hello");
  r.run();
  ASSERT_EQ(to.held.size(), 3U);
  (void)r.seen();
  const std::size_t before = r.server->writes;
  const settlement ways[] = {{settlement_kind::ack, {}}, {settlement_kind::retry, {}}, {settlement_kind::drop, {}}};
  for (const settlement how : ways) {
    incoming* m = to.held.pop();
    EXPECT_EQ(as_text(m->payload()), "hello");
    EXPECT_EQ(m->subject(), "orders");
    EXPECT_TRUE(m->settle(how));
    m->release();
  }
  r.run();
  EXPECT_EQ(r.seen(), (strings{"2 basic.ack 1", "2 basic.reject 2 requeue", "2 basic.reject 3"}));
  EXPECT_EQ(r.server->writes, before + 1);
}

/// R5, R6, L3, L4 and scenario 17: closed first, then the handshake; afterwards every handle answers an error and sends
/// nothing.
TEST(rabbitmq_wire, R5_R6_L3_L4_shutdown_marks_closed_then_shakes_hands) {
  rig r;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  auto open = r.open(queue("orders").spec(), to);
  ASSERT_TRUE(open);
  r.server->deliver(2, 1, "orders", "hello");
  r.run();
  const auto plain = plain_port(r);
  const auto confirming = confirming_port(r);
  (void)r.seen();
  auto closing = r.session->shutdown();
  struct flag : completion {
    flag() : completion([](completion& c) noexcept { static_cast<flag&>(c).set = true; }) {}
    bool set = false;
  } done;
  closing.start(done);
  EXPECT_TRUE(r.server->seen.empty());            // no I/O yet
  sent_message late(*plain, r.rt, "orders", "x"); // L3
  ASSERT_TRUE(late.ended());
  EXPECT_EQ(late.failure(), "closed: publish to 'orders'");
  r.run();
  ASSERT_TRUE(done.set);
  EXPECT_TRUE(closing.take());
  EXPECT_EQ(r.seen(), strings{"connection.close"});
  incoming* m = to.held.pop();
  const auto settled = m->settle({});
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error(), millrace::errc::closed);
  m->release();
  sent_message later(*confirming, r.rt, "orders", "x"); // L4
  ASSERT_TRUE(later.ended());
  EXPECT_EQ(later.failure(), "closed: publish to 'orders'");
  r.run();
  EXPECT_TRUE(r.seen().empty());
}

/// Scenario 16: a dead peer does not hold the shutdown up.
TEST(rabbitmq_wire, R5_a_dead_peer_bounds_the_shutdown) {
  rig r;
  ASSERT_TRUE(r.connect());
  r.server->silent = true;
  EXPECT_FALSE(r.shutdown());
  rig gone;
  ASSERT_TRUE(gone.connect());
  gone.server->refuse_dials = true;
  gone.server->vanish();
  gone.run();
  EXPECT_FALSE(gone.shutdown()); // gone already: no error
}

/// Topology, qos and consume are restored in this order after a loss; what the old channel delivered cannot be settled
/// any more.
TEST(rabbitmq_wire, recovery_restores_the_subscription_in_order) {
  rig r;
  r.settings.mode = topology::declare;
  r.settings.prefetch = 5;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  auto open = r.open(queue("orders").spec(), to);
  ASSERT_TRUE(open);
  r.server->deliver(2, 1, "orders", "hello");
  r.run();
  (void)r.seen();
  r.server->vanish();
  r.run();
  ASSERT_EQ(to.told.size(), 1U);
  EXPECT_TRUE(to.told[0].starts_with("interrupted"));
  r.advance(1s);
  EXPECT_EQ(r.seen(), (strings{"connection.start-ok", "connection.tune-ok", "connection.open", "1 channel.open",
                               "2 channel.open", "2 queue.declare orders", "2 basic.qos 5", "2 basic.consume orders"}));
  EXPECT_EQ(to.told.back(), "resumed");
  incoming* old = to.held.pop();
  EXPECT_EQ(old->settle({}).error(), millrace::errc::closed);
  old->release();
  r.run();
  EXPECT_TRUE(r.seen().empty());
}

TEST(rabbitmq_wire, publishes_during_an_outage_wait_or_fail_and_never_vanish) {
  rig r;
  r.settings.publish_timeout = 5s;
  r.settings.backoff_most = 500ms;
  ASSERT_TRUE(r.connect());
  const auto plain = plain_port(r);
  const auto confirming = confirming_port(r);
  r.server->refuse_dials = true;
  r.server->vanish();
  r.run();
  sent_message late(*plain, r.rt, "orders", "late");
  r.advance(6s);
  ASSERT_TRUE(late.ended());
  EXPECT_NE(late.failure().find("was not sent"), std::string::npos);
  sent_message kept(*plain, r.rt, "orders", "kept");
  sent_message kept_too(*confirming, r.rt, "orders", "kept too");
  r.server->refuse_dials = false;
  r.run();
  EXPECT_FALSE(kept.ended());
  r.server->answer = [](std::uint16_t channel, wire::method what, std::string& out) {
    if (channel != 2 || what != wire::method::basic_publish) return false;
    out += confirm(2, 1, false);
    return true;
  };
  r.advance(4s);
  ASSERT_TRUE(kept.ended() && kept_too.ended());
  EXPECT_EQ(kept.failure(), "");
  EXPECT_EQ(kept_too.failure(), "");
  EXPECT_EQ(r.server->bodies, (strings{"kept", "kept too"}));
}

/// Scenario 32: the queue is deleted; without a declaration nothing brings it back.
TEST(rabbitmq_wire, a_cancelled_consumer_is_reported_and_ends_where_its_queue_is_gone) {
  rig r;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  auto open = r.open(queue("orders").spec(), to);
  ASSERT_TRUE(open);
  r.server->answer = [](std::uint16_t channel, wire::method what, std::string& out) {
    if (what != wire::method::basic_consume) return false;
    out += channel_close(channel, 404, "NOT_FOUND - no queue 'orders' in vhost 'shop'");
    return true;
  };
  r.server->say(server_method(2, wire::method::basic_cancel, [](wire::writer& w) {
    w.short_string("ctag");
    w.u8(1);
  }));
  r.advance(1s);
  ASSERT_EQ(to.told.size(), 2U);
  EXPECT_TRUE(to.told[0].starts_with("interrupted"));
  EXPECT_TRUE(to.told[1].starts_with("ended"));
  EXPECT_NE(to.told[1].find("404"), std::string::npos);
}

/// Scenario 19 and 18: the server closes the subscription's channel; the neighbours stay, the consumer comes back.
TEST(rabbitmq_wire, a_closed_subscription_channel_is_opened_again_and_leaves_the_neighbours_alone) {
  rig r;
  ASSERT_TRUE(r.connect());
  recording_sink one;
  recording_sink two;
  const auto first = r.open(queue("a").spec(), one);
  const auto second = r.open(queue("b").spec(), two);
  ASSERT_TRUE(first && second);
  (void)r.seen();
  r.server->say(channel_close(2, 406, "PRECONDITION_FAILED - delivery acknowledgement on channel 2 timed out"));
  r.advance(1s);
  EXPECT_EQ(r.seen(), (strings{"2 channel.close-ok", "2 channel.open", "2 basic.consume a"}));
  EXPECT_EQ(one.told.size(), 2U);
  EXPECT_EQ(one.told.back(), "resumed");
  EXPECT_TRUE(two.told.empty());
}

/// Scenario 13.
TEST(rabbitmq_wire, a_blocked_connection_shows_in_health_and_publishes_wait) {
  rig r;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("orders").spec(), to);
  const auto plain = plain_port(r);
  r.server->say(
      server_method(0, wire::method::connection_blocked, [](wire::writer& w) { w.short_string("low on memory"); }));
  r.run();
  ASSERT_EQ(to.told.size(), 1U);
  EXPECT_NE(to.told[0].find("low on memory"), std::string::npos);
  sent_message waits(*plain, r.rt, "orders", "x");
  r.run();
  EXPECT_FALSE(waits.ended());
  r.server->say(server_method(0, wire::method::connection_unblocked));
  r.run();
  ASSERT_TRUE(waits.ended());
  EXPECT_EQ(waits.failure(), "");
  EXPECT_EQ(to.told.back(), "resumed");
  EXPECT_TRUE(r.shutdown());
}

/// Scenario 14: heartbeats go out by themselves, and a silent peer is given up after two intervals.
TEST(rabbitmq_wire, heartbeats_keep_the_connection_and_find_a_dead_peer) {
  rig r;
  r.server->heartbeat = 10;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("orders").spec(), to);
  r.advance(11s);
  EXPECT_GE(r.server->heartbeats, 1U);
  std::string beat;
  detail::append_heartbeat(beat);
  for (int i = 0; i < 5; ++i) {
    r.server->say(beat);
    r.advance(10s);
  }
  EXPECT_TRUE(to.told.empty());
  r.server->refuse_dials = true;
  r.advance(21s);
  ASSERT_EQ(to.told.size(), 1U);
  EXPECT_TRUE(to.told[0].starts_with("interrupted"));
}

/// Whatever bytes the server sends, the client ends the connection and goes on.
TEST(rabbitmq_wire, a_server_that_breaks_the_protocol_costs_the_connection_alone) {
  const std::string broken[] = {
      "HTTP/1.1 400 Bad Request\r\n\r\n",
      std::string("\x01\x00\x02\x00\x00\x00\x04\x00\x3c\x00\x3c\xff", 12),
      server_method(7, wire::method::basic_deliver),
      server_method(1, wire::method::basic_deliver),
      confirm(1, 99, false),
      std::string("\x02\x00\x02\xff\xff\xff\xff", 7),
  };
  for (const std::string& bytes : broken) {
    rig r;
    ASSERT_TRUE(r.connect());
    recording_sink to;
    const auto open = r.open(queue("orders").spec(), to);
    r.server->say(bytes);
    r.advance(1s);
    ASSERT_EQ(to.told.size(), 2U);
    EXPECT_EQ(to.told.back(), "resumed");
    EXPECT_TRUE(r.shutdown());
  }
}

TEST(rabbitmq_wire, stopping_a_subscription_cancels_it_and_closing_it_returns_the_rest) {
  rig r;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  auto open = r.open(queue("orders").spec(), to);
  ASSERT_TRUE(open);
  r.server->deliver(2, 1, "orders", "one");
  r.run();
  (void)r.seen();
  r.rt.drive((*open)->stop());
  r.server->deliver(2, 2, "orders", "two");
  r.run();
  EXPECT_EQ(to.held.size(), 1U);
  incoming* m = to.held.pop();
  EXPECT_TRUE(m->settle({})); // its channel is still there
  m->release();
  open->reset();
  r.run();
  EXPECT_EQ(r.seen(), (strings{"2 basic.cancel", "2 basic.ack 1", "2 channel.close"}));
  EXPECT_TRUE(to.told.empty());
  EXPECT_TRUE(r.shutdown()); // scenario 36
}

} // namespace
} // namespace millrace::rabbitmq::testing
