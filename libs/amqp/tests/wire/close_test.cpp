// Lifecycle A5 and A6 frame by frame: from the inside out, every step bounded, the innermost error comes back.
#include "wire/rig.hpp"

#include <proton/condition.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/session.h>

#include <algorithm>

namespace millrace::amqp::testing {
namespace {

/// Two subscriptions (sessions 1 and 2), one sending link on the publishers' session 0, one delivery held.
struct busy_rig : rig {
  explicit busy_rig(peer_script s = {}) : rig(std::move(s)) {
    EXPECT_TRUE(connect());
    first = open(queue("a"), to);
    second = open(queue("b"), to);
    EXPECT_TRUE(first && second);
    publisher = port();
    sent_message one(*publisher, rt, "out", "x");
    run();
    EXPECT_EQ(one.failure(), "");
    peer->send("a", data_message("held"));
    run();
    (void)seen();
  }
  recording_sink to;
  open_result first = fail(errc::closed, "");
  open_result second = fail(errc::closed, "");
  std::shared_ptr<publish_port> publisher;
};

/// Every detach comes before the end of its own session, both before the detach of the sending link, and so on.
void expect_inside_out(const strings& seen) {
  const auto at = [&](const char* frame) { return std::ranges::find(seen, frame) - seen.begin(); };
  EXPECT_LT(at("1 detach"), at("1 end"));
  EXPECT_LT(at("2 detach"), at("2 end"));
  EXPECT_LT(std::max(at("1 end"), at("2 end")), at("0 detach"));
  EXPECT_LT(at("0 detach"), at("0 end"));
  EXPECT_LT(at("0 end"), at("0 close"));
  EXPECT_EQ(at("0 close"), static_cast<std::ptrdiff_t>(seen.size()) - 1);
}

TEST(amqp_close, A5_from_the_inside_out) {
  busy_rig r;
  const auto closed = r.shutdown();
  ASSERT_TRUE(closed) << closed.error().message();
  EXPECT_TRUE(*closed);
  const strings seen = r.seen();
  EXPECT_EQ(seen.size(), 7U);
  expect_inside_out(seen);
}

/// A6, L4: what it holds is there; settling it is an error, and nothing is sent.
TEST(amqp_close, A6_L4_a_held_delivery_answers_an_error) {
  busy_rig r;
  ASSERT_TRUE(r.shutdown());
  incoming* const held = r.to.held.pop();
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(as_text(held->payload()), "held");
  EXPECT_EQ(held->settle({}).error(), amqp::errc::closed);
  held->release();
  EXPECT_TRUE(r.to.told.empty()); // a shutdown is no loss
}

/// A7, L3.
TEST(amqp_close, A7_L3_a_publisher_that_is_kept_answers_not_connected) {
  busy_rig r;
  ASSERT_TRUE(r.shutdown());
  sent_message late(*r.publisher, r.rt, "out", "x");
  ASSERT_TRUE(late.ended());
  const auto answer = late.answer();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), millrace::errc::not_connected);
  EXPECT_EQ(answer.error(), millrace::errc::closed);
  EXPECT_NE(answer.error().message().find("'out'"), std::string::npos);
}

/// Scenario 23: every step runs, each within its share of the bound, and the innermost error comes back.
TEST(amqp_close, A5_a_peer_that_answers_no_detach) {
  peer_script silent;
  silent.on_detach = [](pn_link_t*) {};
  busy_rig r(silent);
  const time_point began = r.rt.now();
  const auto closed = r.shutdown();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error(), amqp::errc::detach);
  EXPECT_NE(closed.error().message().find("address 'a'"), std::string::npos);
  EXPECT_EQ(r.rt.now() - began, 2500ms); // receivers and senders; the session and the connection were answered
  const strings seen = r.seen();
  EXPECT_EQ(seen.back(), "0 close");
  EXPECT_EQ(std::ranges::count(seen, "0 end"), 1);
}

TEST(amqp_close, A5_a_peer_that_answers_nothing_at_all) {
  peer_script silent;
  silent.on_detach = [](pn_link_t*) {};
  silent.on_end = [](pn_session_t*) {};
  silent.on_close = [](pn_connection_t*) {};
  busy_rig r(silent);
  const time_point began = r.rt.now();
  const auto closed = r.shutdown();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error(), amqp::errc::detach);
  EXPECT_EQ(r.rt.now() - began, 5s);
  EXPECT_EQ(r.seen().back(), "0 close");
}

/// RabbitMQ's plugin may stop a session before its answer to `end` is written: that costs neither the result nor
/// seconds.
TEST(amqp_close, A5_an_end_that_rabbitmq_does_not_answer_is_no_error) {
  peer_script rabbit;
  rabbit.product = "RabbitMQ";
  rabbit.version = "3.10.8";
  rabbit.on_end = [](pn_session_t*) {};
  busy_rig r(rabbit);
  const time_point began = r.rt.now();
  const auto closed = r.shutdown();
  ASSERT_TRUE(closed) << closed.error().message();
  EXPECT_TRUE(*closed);
  EXPECT_EQ(r.rt.now() - began, 400ms); // of the subscriptions' sessions together, and of the publishers'
  expect_inside_out(r.seen());
}

/// An error in the answer to a detach is the innermost; what follows runs all the same.
TEST(amqp_close, A5_the_innermost_error_is_the_answer) {
  peer_script failing;
  failing.on_detach = [](pn_link_t* link) {
    pn_condition_t* const said = pn_link_condition(link);
    pn_condition_set_name(said, pn_link_is_sender(link) ? "amqp:internal-error" : "amqp:resource-deleted");
    pn_link_close(link);
  };
  busy_rig r(failing);
  const auto closed = r.shutdown();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error(), amqp::errc::detach);
  EXPECT_EQ(closed.error().server_text(), "amqp:internal-error");
  expect_inside_out(r.seen());
}

/// Scenario 21: a detach that comes after our end and close is nobody's.
TEST(amqp_close, A5_a_late_detach_is_ignored) {
  peer_script late;
  pn_link_t* waiting = nullptr;
  late.on_detach = [&](pn_link_t* link) {
    if (pn_link_is_sender(link))
      waiting = link;
    else
      pn_link_close(link);
  };
  late.on_end = [&](pn_session_t* session) {
    if (waiting != nullptr) pn_link_close(std::exchange(waiting, nullptr));
    pn_session_close(session);
  };
  rig r(late);
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto open = r.open(queue("a"), to);
  ASSERT_TRUE(open);
  const auto closed = r.shutdown();
  EXPECT_FALSE(closed); // the step of the detach ran out of time
  EXPECT_EQ(r.seen().back(), "0 close");
}

/// What was published and not settled when the shutdown begins still gets its answer, and then the link closes.
TEST(amqp_close, A5_a_publish_under_way_gets_its_answer) {
  peer_script slow;
  std::vector<pn_delivery_t*> unsettled;
  slow.on_transfer = [&](pn_delivery_t* d) { unsettled.push_back(d); };
  rig r(slow);
  ASSERT_TRUE(r.connect());
  const auto publisher = r.port();
  sent_message one(*publisher, r.rt, "out", "x");
  r.run();
  ASSERT_EQ(unsettled.size(), 1U);
  EXPECT_FALSE(one.ended());
  completion done([](completion&) noexcept {});
  auto closing = r.connection->shutdown();
  closing.start(done);
  r.run();
  EXPECT_FALSE(one.ended());
  pn_delivery_update(unsettled[0], PN_ACCEPTED);
  pn_delivery_settle(unsettled[0]);
  r.run();
  EXPECT_EQ(one.failure(), "");
  EXPECT_TRUE(closing.take());
}

} // namespace
} // namespace millrace::amqp::testing
