// Subscriptions against a scripted peer: attach, loss, credit, settlement.
#include "wire/rig.hpp"

#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/link.h>
#include <proton/session.h>
#include <proton/terminus.h>

#include <algorithm>

namespace millrace::amqp::testing {
namespace {

/// A connected rig with one subscription on session 1.
struct reading_rig : rig {
  explicit reading_rig(peer_script s = {}, const queue& from = queue("a")) : rig(std::move(s)) {
    EXPECT_TRUE(connect());
    subscribed = open(from, to);
    EXPECT_TRUE(subscribed) << subscribed.error().message();
    (void)seen();
  }
  void settle_next(settlement_kind how) {
    incoming* const m = to.held.pop();
    ASSERT_NE(m, nullptr);
    EXPECT_TRUE(m->settle({how, {}}));
    m->release();
  }
  recording_sink to;
  open_result subscribed = fail(errc::closed, "");
};

TEST(amqp_subscription, A3_a_session_a_link_and_its_credit) {
  rig r;
  ASSERT_TRUE(r.connect());
  EXPECT_EQ(r.seen(), (strings{"0 open", "0 begin"})); // A2; A4: no sending link
  recording_sink to;
  const auto open = r.open(queue("a").credit(7), to);
  ASSERT_TRUE(open);
  EXPECT_EQ(r.seen(), (strings{"1 begin", "1 attach", "1 flow"}));
  EXPECT_EQ(pn_link_credit(r.peer->links.at("a")), 7);
}

TEST(amqp_subscription, A3_an_empty_address_and_no_credit_are_refused_without_io) {
  rig r;
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  recording_sink to;
  for (const queue& bad : {queue(""), queue("a").credit(0), queue("a").credit(0x80000000U)}) {
    const auto open = r.open(bad, to);
    ASSERT_FALSE(open);
    EXPECT_EQ(open.error(), amqp::errc::invalid_address);
  }
  EXPECT_TRUE(r.seen().empty());
}

/// Scenario 4: an answer without a terminus, then a detach with the reason.
TEST(amqp_subscription, A3_a_refused_attach_names_the_address_and_the_reason) {
  peer_script refusing;
  refusing.on_attach = [](pn_link_t* link) { scripted_peer::refuse(link, "amqp:unauthorized-access"); };
  rig r(refusing);
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("secret"), to);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error(), amqp::errc::attach);
  EXPECT_NE(open.error().message().find("'secret'"), std::string::npos);
  EXPECT_TRUE(open.error().server_text().starts_with("amqp:unauthorized-access"));
  EXPECT_TRUE(to.told.empty());
}

/// Scenario 4: a detach and no attach before it breaks the protocol: an error at once, which names the address.
TEST(amqp_subscription, A3_a_detach_without_an_attach_does_not_hang) {
  rig r;
  r.script.on_attach = [&](pn_link_t*) { r.peer->say(detach_frame(1, 0, "amqp:unauthorized-access")); };
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const time_point began = r.rt.now();
  const auto open = r.open(queue("secret"), to);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message().find("'secret'"), std::string::npos) << open.error().message();
  EXPECT_EQ(r.rt.now(), began);
}

/// Scenario 4: attached for a moment, with a terminus, and taken away: a loss, with the reason.
TEST(amqp_subscription, a_link_that_is_closed_right_after_its_attach_is_a_loss) {
  rig r;
  r.script.on_attach = [&](pn_link_t* link) {
    r.peer->accept(link);
    r.peer->detach("brief", "amqp:unauthorized-access");
  };
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("brief"), to);
  ASSERT_TRUE(open);
  ASSERT_EQ(to.told.size(), 1U);
  EXPECT_TRUE(to.told[0].starts_with("interrupted: ")) << to.told[0];
  EXPECT_NE(to.told[0].find("amqp:unauthorized-access"), std::string::npos) << to.told[0];
}

/// A peer that does not answer the attach: the bound, not for ever.
TEST(amqp_subscription, A3_an_attach_without_an_answer_times_out) {
  peer_script silent;
  silent.on_attach = [](pn_link_t*) {};
  rig r(silent);
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("a"), to);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error(), millrace::errc::timeout);
}

/// Scenarios 1, 2 and 5: with the peer's words, once; then it is attached again, over a new session.
TEST(amqp_subscription, a_link_that_the_peer_takes_away_comes_back) {
  const std::pair<const char*, bool> losses[] = {{"amqp:link:detach-forced", true},
                                                 {"amqp:link:detach-forced", false},
                                                 {"amqp:link:stolen", true},
                                                 {nullptr, false}};
  for (const auto& [condition, closed] : losses) {
    reading_rig r;
    r.peer->detach("a", condition, closed);
    r.run();
    ASSERT_EQ(r.to.told.size(), 1U);
    EXPECT_TRUE(r.to.told[0].starts_with("interrupted: ")) << r.to.told[0];
    EXPECT_NE(r.to.told[0].find(condition != nullptr ? condition : "'a'"), std::string::npos);
    const strings lost = r.seen();
    EXPECT_EQ(lost, (strings{"1 detach", "1 end"}));
    r.advance(200ms);
    EXPECT_EQ(r.to.told.size(), 2U);
    EXPECT_EQ(r.to.told.back(), "resumed");
    r.peer->send("a", data_message("again"));
    r.run();
    EXPECT_EQ(r.to.held.size(), 1U);
  }
}

TEST(amqp_subscription, a_session_that_the_peer_ends_comes_back) {
  reading_rig r;
  r.peer->end("a", "amqp:session:errant-link");
  r.run();
  ASSERT_EQ(r.to.told.size(), 1U);
  EXPECT_NE(r.to.told[0].find("errant-link"), std::string::npos);
  r.advance(200ms);
  EXPECT_EQ(r.to.told.back(), "resumed");
}

/// What came over the old link may not be settled over the new one.
TEST(amqp_subscription, an_old_delivery_answers_an_error_after_a_loss) {
  reading_rig r;
  r.peer->send("a", data_message("old"));
  r.run();
  incoming* const held = r.to.held.pop();
  ASSERT_NE(held, nullptr);
  r.peer->detach("a", "amqp:link:detach-forced");
  r.run();
  r.advance(200ms);
  (void)r.seen();
  EXPECT_EQ(held->settle({}).error(), millrace::errc::closed);
  held->release();
  r.run();
  EXPECT_TRUE(r.seen().empty());
}

/// A peer that says that it is gone for good is believed, when it refuses the link anew.
TEST(amqp_subscription, a_link_that_is_refused_anew_ends) {
  bool refuse = false;
  rig* self = nullptr;
  peer_script script;
  script.on_attach = [&](pn_link_t* link) {
    if (refuse) return scripted_peer::refuse(link, "amqp:not-found");
    self->peer->accept(link);
  };
  rig r(script);
  self = &r;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("a"), to);
  ASSERT_TRUE(open);
  refuse = true;
  r.peer->detach("a", "amqp:resource-deleted");
  r.run();
  (void)r.seen();
  r.advance(200ms);
  EXPECT_EQ(r.seen(), (strings{"1 begin", "1 attach", "1 detach", "1 end"}));
  EXPECT_TRUE(to.told.back().starts_with("ended: ")) << to.told.back();
  EXPECT_NE(to.told.back().find("amqp:not-found"), std::string::npos);
}

/// Scenarios 18 and 19, section 5 of the specification: the outcomes on the wire.
TEST(amqp_subscription, outcomes_on_the_wire) {
  reading_rig r;
  for (int i = 0; i < 4; ++i)
    r.peer->send("a", data_message("m"));
  r.run();
  r.settle_next(settlement_kind::ack);
  r.run();
  r.settle_next(settlement_kind::retry);
  r.run();
  r.settle_next(settlement_kind::drop);
  r.run();
  r.to.held.pop()->release(); // unsettled
  r.run();
  EXPECT_EQ(r.peer->dispositions, (strings{"accepted", "modified failed", "rejected", "released"}));
}

/// RabbitMQ's plugin before 4.0 ends the session on `modified`.
TEST(amqp_subscription, a_retry_is_released_where_the_peer_does_not_know_modified) {
  for (const auto& [version, expected] : {std::pair{"3.10.8", "released"}, std::pair{"4.0.1", "modified failed"}}) {
    peer_script rabbit;
    rabbit.product = "RabbitMQ";
    rabbit.version = version;
    reading_rig r(rabbit);
    r.peer->send("a", data_message("m"));
    r.run();
    EXPECT_EQ(r.to.held.size(), 1U);
    r.settle_next(settlement_kind::retry);
    r.run();
    EXPECT_EQ(r.peer->dispositions, strings{expected});
  }
}

/// Scenario 6: two are out, and no more come until one is settled.
TEST(amqp_subscription, credit_holds_the_peer_back) {
  reading_rig r({}, queue("a").credit(2));
  for (const char* text : {"1", "2", "3", "4", "5"})
    r.peer->send("a", data_message(text));
  r.run();
  EXPECT_EQ(r.to.held.size(), 2U);
  for (const char* text : {"1", "2", "3", "4", "5"}) {
    incoming* const m = r.to.held.pop();
    ASSERT_NE(m, nullptr) << text;
    EXPECT_EQ(as_text(m->payload()), text);
    EXPECT_TRUE(m->settle({}));
    m->release();
    r.run();
  }
  EXPECT_TRUE(r.to.held.empty());
}

/// Scenario 7: credit does not drift, whatever the outcomes are.
TEST(amqp_subscription, ten_thousand_mixed_settlements_do_not_stall) {
  reading_rig r({}, queue("a").credit(16));
  int settled = 0;
  for (int i = 0; i < 10'000; ++i) {
    r.peer->send("a", data_message("m"));
    r.run();
    if (i % 8 != 7) continue;
    while (incoming* const m = r.to.held.pop()) {
      ++settled;
      const auto how = settled % 2 == 0 ? settlement_kind::ack : settlement_kind::drop;
      if (settled % 4 != 3) {
        EXPECT_TRUE(m->settle({how, {}}));
      }
      m->release();
    }
  }
  r.run();
  EXPECT_EQ(settled, 10'000);
  EXPECT_EQ(r.peer->dispositions.size(), 10'000U);
}

/// Scenario 8: the link, not one message.
TEST(amqp_subscription, more_than_the_credit_is_the_end_of_the_link) {
  reading_rig r({}, queue("a").credit(1));
  r.peer->say(transfer_frame(1, 0, 0, data_message("1")) + transfer_frame(1, 0, 1, data_message("2")));
  r.run();
  ASSERT_EQ(r.to.told.size(), 1U);
  EXPECT_NE(r.to.told[0].find("amqp:link:transfer-limit-exceeded"), std::string::npos);
  const strings seen = r.seen();
  EXPECT_EQ(std::ranges::count(seen, "1 detach"), 1);
}

/// Scenario 8 of RabbitMQ's plugin, which does so whenever credit and deliveries cross: what came too early is taken,
/// and no credit is given for it.
TEST(amqp_subscription, what_rabbitmq_sends_beyond_the_credit_is_taken_off_the_next) {
  peer_script rabbit;
  rabbit.product = "RabbitMQ";
  rabbit.version = "3.10.8";
  reading_rig r(rabbit, queue("a").credit(2));
  std::string four;
  for (std::uint32_t id = 0; id < 4; ++id)
    four += transfer_frame(1, 0, id, data_message(std::to_string(id)));
  r.peer->say(four);
  r.run();
  EXPECT_TRUE(r.to.told.empty());
  EXPECT_EQ(r.to.held.size(), 4U);
  const auto credit = [&] { return pn_link_credit(r.peer->links.at("a")); };
  for (const int expected : {0, 0, 1, 2}) {
    r.settle_next(settlement_kind::ack);
    r.run();
    EXPECT_EQ(credit() - 4, expected); // the scripted peer's engine did not see its four go out
  }
}

/// Scenario 16 and 31: one message is rejected, and the next one arrives.
TEST(amqp_subscription, what_cannot_be_handled_is_rejected_and_the_rest_goes_on) {
  detail::broker_settings small = patient();
  small.max_message_size = 100;
  rig r({}, small);
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("a").credit(3), to);
  ASSERT_TRUE(open);
  r.peer->send("a", data_message(std::string(5000, 'x')));
  r.peer->send("a", std::string{0x00, 0x53, 0x77, 0x45});                          // amqp-value: a list
  r.peer->send("a", std::string{0x00, 0x53, 0x76, 0x45});                          // amqp-sequence
  r.peer->send("a", std::string{0x00, 0x53, 0x77, static_cast<char>(0xc1), 1, 0}); // amqp-value: a map
  r.peer->send("a", "no message at all");
  r.peer->send("a", data_message("fine"));
  r.run();
  EXPECT_EQ(r.peer->dispositions, (strings{"rejected", "rejected", "rejected", "rejected", "rejected"}));
  ASSERT_EQ(to.held.size(), 1U);
  incoming* const m = to.held.pop();
  EXPECT_EQ(as_text(m->payload()), "fine");
  EXPECT_TRUE(m->settle({}));
  m->release();
  EXPECT_TRUE(to.told.empty());
}

/// Receipt settles; the credit comes back when the handler is done.
TEST(amqp_subscription, at_most_once_settles_on_receipt) {
  reading_rig r({}, queue("a").credit(2).settle(settle::at_most_once));
  for (const char* text : {"1", "2", "3"})
    r.peer->send("a", data_message(text));
  r.run();
  EXPECT_EQ(r.peer->dispositions, (strings{"accepted", "accepted"}));
  ASSERT_EQ(r.to.held.size(), 2U);
  incoming* const m = r.to.held.pop();
  EXPECT_EQ(m->settle({}).error(), millrace::errc::unsupported);
  EXPECT_EQ(m->delivery_count(), 0U);
  m->release();
  r.run();
  EXPECT_EQ(r.to.held.size(), 2U);
}

/// A durable subscription is let go, not closed, and has a link name of its own.
TEST(amqp_subscription, a_durable_topic_keeps_its_name_and_its_state) {
  detail::broker_settings settings = patient();
  settings.container_id = "audits";
  rig r({}, settings);
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(topic("news").durable("audit"), to);
  ASSERT_TRUE(open);
  pn_link_t* const link = r.peer->links.at("news");
  EXPECT_STREQ(pn_link_name(link), "audit");
  EXPECT_EQ(pn_terminus_get_expiry_policy(pn_link_remote_source(link)), PN_EXPIRE_NEVER);
  EXPECT_EQ(pn_terminus_get_durability(pn_link_remote_source(link)), PN_DELIVERIES);
  ASSERT_TRUE(r.shutdown());
  EXPECT_EQ(pn_link_state(link) & PN_REMOTE_CLOSED, 0); // it was detached
}

/// It belongs to the container: under the random name of a default it would be another one after each start.
TEST(amqp_subscription, A3_a_durable_topic_without_a_container_id_is_refused_without_io) {
  rig r;
  ASSERT_TRUE(r.connect());
  (void)r.seen();
  recording_sink to;
  const auto open = r.open(topic("news").durable("audit"), to);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error(), amqp::errc::invalid_address);
  EXPECT_NE(open.error().message().find("container_id"), std::string::npos) << open.error().message();
  EXPECT_TRUE(r.seen().empty());
}

} // namespace
} // namespace millrace::amqp::testing
