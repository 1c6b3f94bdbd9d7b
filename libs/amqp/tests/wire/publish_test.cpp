// Publishers against a scripted peer: links, credit, outcomes, bounds.
#include "protocol/message_in.hpp"
#include "wire/rig.hpp"

#include <proton/condition.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/session.h>

#include <algorithm>

namespace millrace::amqp::testing {
namespace {

struct publishing_rig : rig {
  explicit publishing_rig(peer_script s = {}, detail::broker_settings settings = patient())
      : rig(std::move(s), std::move(settings)) {
    EXPECT_TRUE(connect());
    publisher = port();
    (void)seen();
  }
  std::string send(std::string_view text = "x", std::string_view to = "out") {
    sent_message one(*publisher, rt, to, text);
    run();
    return one.failure();
  }
  std::shared_ptr<publish_port> publisher;
};

/// Scenario 33: two at the same time, one attach.
TEST(amqp_publish, A4_the_first_publish_attaches_once) {
  publishing_rig r;
  EXPECT_TRUE(r.seen().empty());
  sent_message one(*r.publisher, r.rt, "out", "1");
  const auto other = r.port();
  sent_message two(*other, r.rt, "out", "2");
  r.run();
  EXPECT_EQ(one.failure(), "");
  EXPECT_EQ(two.failure(), "");
  EXPECT_EQ(r.seen(), (strings{"0 attach", "0 transfer", "0 transfer"}));
}

/// Scenario 20: `accepted` is the only success.
TEST(amqp_publish, every_other_outcome_is_an_error_with_the_peers_words) {
  for (const std::uint64_t outcome : {PN_REJECTED, PN_RELEASED, PN_MODIFIED}) {
    peer_script script;
    script.on_transfer = [=](pn_delivery_t* d) {
      if (outcome == PN_REJECTED)
        pn_condition_set_name(pn_disposition_condition(pn_delivery_local(d)), "amqp:resource-limit-exceeded");
      pn_delivery_update(d, outcome);
      pn_delivery_settle(d);
    };
    publishing_rig r(script);
    sent_message one(*r.publisher, r.rt, "out", "x");
    r.run();
    ASSERT_TRUE(one.ended());
    const auto answer = one.answer();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error(), amqp::errc::not_accepted);
    EXPECT_EQ(answer.error(), millrace::errc::publish);
    EXPECT_NE(answer.error().message().find("'out'"), std::string::npos);
    const char* const word = outcome == PN_REJECTED   ? "amqp:resource-limit-exceeded"
                             : outcome == PN_RELEASED ? "released"
                                                      : "modified";
    EXPECT_NE(answer.error().message().find(word), std::string::npos);
  }
}

/// Many are under way on one link, in order; each gets its own outcome.
TEST(amqp_publish, transfers_are_pipelined) {
  std::vector<pn_delivery_t*> unsettled;
  peer_script script;
  script.on_transfer = [&](pn_delivery_t* d) { unsettled.push_back(d); };
  publishing_rig r(script);
  std::deque<sent_message> sent;
  for (int i = 0; i < 10; ++i)
    sent.emplace_back(*r.publisher, r.rt, "out", std::to_string(i));
  r.run();
  ASSERT_EQ(unsettled.size(), 10U);
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(r.peer->messages[i].ends_with(std::to_string(i)));
  pn_delivery_update(unsettled[3], PN_REJECTED);
  pn_delivery_settle(unsettled[3]);
  pn_delivery_update(unsettled[7], PN_ACCEPTED);
  pn_delivery_settle(unsettled[7]);
  r.run();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(sent[i].ended(), i == 3 || i == 7);
  EXPECT_NE(sent[3].failure(), "");
  EXPECT_EQ(sent[7].failure(), "");
  for (const int i : {0, 1, 2, 4, 5, 6, 8, 9}) {
    pn_delivery_update(unsettled[i], PN_ACCEPTED);
    pn_delivery_settle(unsettled[i]);
  }
  r.run();
}

/// Scenario 9: bounded, in order, and the shutdown works.
TEST(amqp_publish, a_peer_without_credit_bounds_the_publish) {
  peer_script script;
  script.credit = 1;
  publishing_rig r(script);
  sent_message first(*r.publisher, r.rt, "out", "1");
  sent_message second(*r.publisher, r.rt, "out", "2");
  r.run();
  EXPECT_EQ(first.failure(), "");
  EXPECT_FALSE(second.ended());
  r.advance(29s);
  EXPECT_FALSE(second.ended());
  r.advance(2s);
  ASSERT_TRUE(second.ended());
  const auto answer = second.answer();
  EXPECT_EQ(answer.error(), millrace::errc::timeout);
  EXPECT_NE(answer.error().message().find("no credit"), std::string::npos);
  sent_message third(*r.publisher, r.rt, "out", "3");
  r.run();
  EXPECT_TRUE(r.shutdown());
  EXPECT_NE(third.failure(), "");
}

/// The peer has it and does not settle: the outcome is unknown, and said so.
TEST(amqp_publish, an_outcome_that_never_comes_is_a_timeout) {
  peer_script script;
  script.on_transfer = [](pn_delivery_t*) {};
  publishing_rig r(script);
  sent_message one(*r.publisher, r.rt, "out", "1");
  r.run();
  r.advance(31s);
  ASSERT_TRUE(one.ended());
  EXPECT_NE(one.failure().find("unknown"), std::string::npos);
}

/// `disposition`: accepted, for the first two deliveries of the publishers' session.
std::string accepted_frame(bool settled) {
  const std::string state{0x00, 0x53, 0x24, 0x45};
  const std::string range{0x41, 0x43, 0x52, 1, settled ? '\x41' : '\x42'};
  return frame_of(0, std::string{0x00, 0x53, 0x15, static_cast<char>(0xc0), 10, 5} + range + state);
}

/// A peer that settles in two steps says the outcome twice, and both may come in one read: what is still under way
/// ends all the same.
TEST(amqp_publish, an_outcome_that_is_said_twice_counts_once) {
  peer_script script;
  script.on_transfer = [](pn_delivery_t*) {};
  publishing_rig r(script);
  sent_message one(*r.publisher, r.rt, "out", "1");
  sent_message two(*r.publisher, r.rt, "out", "2");
  sent_message waiting(*r.publisher, r.rt, "out", "3");
  r.run();
  r.peer->say(accepted_frame(false) + accepted_frame(true));
  r.run();
  EXPECT_EQ(one.failure(), "");
  EXPECT_EQ(two.failure(), "");
  EXPECT_FALSE(waiting.ended());
  r.advance(31s);
  EXPECT_NE(waiting.failure().find("unknown"), std::string::npos) << waiting.failure();
  EXPECT_TRUE(r.shutdown());
}

/// Scenario 3: attached again by the next publish.
TEST(amqp_publish, a_link_that_the_peer_closed_is_attached_again) {
  publishing_rig r;
  EXPECT_EQ(r.send(), "");
  r.peer->detach("out", "amqp:link:detach-forced");
  r.run();
  (void)r.seen();
  EXPECT_EQ(r.send(), "");
  EXPECT_EQ(r.seen(), (strings{"0 attach", "0 transfer"}));
}

TEST(amqp_publish, a_link_that_is_lost_under_way_leaves_the_outcome_unknown) {
  peer_script script;
  script.on_transfer = [](pn_delivery_t*) {};
  publishing_rig r(script);
  sent_message one(*r.publisher, r.rt, "out", "1");
  r.run();
  r.peer->detach("out", "amqp:link:detach-forced");
  r.run();
  ASSERT_TRUE(one.ended());
  const std::string text = one.failure();
  EXPECT_NE(text.find("unknown"), std::string::npos);
  EXPECT_NE(text.find("detach-forced"), std::string::npos);
}

/// Scenario 4 of a sender; the address is free for another try.
TEST(amqp_publish, a_refused_attach_fails_what_waits_and_nothing_else) {
  peer_script script;
  rig* self = nullptr;
  script.on_attach = [&](pn_link_t* link) {
    if (self->peer->links.contains("bad") && self->peer->links.at("bad") == link)
      return scripted_peer::refuse(link, "amqp:not-found");
    self->peer->accept(link);
  };
  rig r(script);
  self = &r;
  ASSERT_TRUE(r.connect());
  const auto publisher = r.port();
  sent_message bad(*publisher, r.rt, "bad", "x");
  sent_message good(*publisher, r.rt, "good", "x");
  r.run();
  EXPECT_EQ(good.failure(), "");
  ASSERT_TRUE(bad.ended());
  const auto answer = bad.answer();
  EXPECT_EQ(answer.error(), amqp::errc::attach);
  EXPECT_EQ(answer.error(), millrace::errc::publish);
  EXPECT_NE(answer.error().message().find("amqp:not-found"), std::string::npos);
}

/// A session that the peer ends because of one link takes the others along; they come back.
TEST(amqp_publish, the_session_is_begun_again) {
  publishing_rig r;
  EXPECT_EQ(r.send(), "");
  r.peer->end("out", "amqp:not-found");
  r.run();
  EXPECT_EQ(r.send(), "");
}

/// Scenarios 14 and 15: refused here, with both sizes; the link stays. Absent and 0 mean no limit.
TEST(amqp_publish, a_message_over_the_peers_limit_is_refused_here) {
  peer_script script;
  script.max_message_size = 1000;
  publishing_rig r(script);
  EXPECT_EQ(r.send(), "");
  (void)r.seen();
  const std::string text = r.send(std::string(2000, 'x'));
  EXPECT_NE(text.find("(1000)"), std::string::npos) << text;
  EXPECT_EQ(r.send(), "");
  EXPECT_EQ(r.seen(), strings{"0 transfer"});
  publishing_rig no_limit;
  EXPECT_EQ(no_limit.send(std::string(200'000, 'x')), "");
}

/// Scenario 17: several frames, one message.
TEST(amqp_publish, a_large_message_goes_in_frames) {
  publishing_rig r;
  const std::string large(300'000, 'y');
  EXPECT_EQ(r.send(large), "");
  ASSERT_EQ(r.peer->messages.size(), 1U);
  EXPECT_TRUE(r.peer->messages[0].ends_with(large));
  const strings seen = r.seen();
  EXPECT_GT(std::ranges::count(seen, "0 transfer"), 1);
}

TEST(amqp_publish, a_link_that_is_idle_is_closed) {
  publishing_rig r;
  EXPECT_EQ(r.send(), "");
  (void)r.seen();
  r.advance(100s);
  EXPECT_EQ(r.seen(), strings{"0 detach"});
  EXPECT_EQ(r.send(), "");
  EXPECT_EQ(r.seen(), (strings{"0 attach", "0 transfer"}));
}

/// Scenario 29: a responder's links do not grow with its requesters.
TEST(amqp_publish, the_number_of_links_is_bounded) {
  detail::broker_settings few = patient();
  few.most_links = 16;
  publishing_rig r({}, few);
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(r.send("x", "reply-" + std::to_string(i)), "");
  const strings seen = r.seen();
  const auto open = std::ranges::count(seen, "0 attach") - std::ranges::count(seen, "0 detach");
  EXPECT_LE(open, 18);
}

/// A request waits for no disk unless it says so: its answer would find nobody after a restart. A publish is kept.
TEST(amqp_publish, a_request_is_not_durable_unless_it_says_so) {
  publishing_rig r;
  const auto ask = [&](const publish& policy, const message_options* options) {
    r.peer->messages.clear();
    EXPECT_FALSE(r.rt.drive(r.port(policy)->request({"out", as_bytes("?"), nullptr, options}, 1s))); // nobody answers
    return detail::read_message(r.peer->messages.at(0)).durable;
  };
  message_options kept;
  kept.durable = true;
  EXPECT_FALSE(ask(publish(), nullptr));
  EXPECT_TRUE(ask(publish(), &kept));
  EXPECT_TRUE(ask(publish().durable(true), nullptr));
  EXPECT_EQ(r.send(), "");
  EXPECT_TRUE(detail::read_message(r.peer->messages.back()).durable);
}

TEST(amqp_publish, what_cannot_be_sent_is_an_error_that_names_it) {
  publishing_rig r;
  header_map headers;
  headers.set("content-type", "caf\xc3\xa9");
  publish_operation op(&r.rt);
  r.publisher->publish({"out", {}, &headers, nullptr}, op);
  ASSERT_TRUE(op.done());
  auto answer = op.take();
  EXPECT_EQ(answer.error(), amqp::errc::invalid_options);
  EXPECT_NE(answer.error().message().find("content-type"), std::string::npos);
  sent_message nowhere(*r.publisher, r.rt, "", "x");
  EXPECT_NE(nowhere.failure().find("empty"), std::string::npos);
  EXPECT_TRUE(r.seen().empty());
}

} // namespace
} // namespace millrace::amqp::testing
