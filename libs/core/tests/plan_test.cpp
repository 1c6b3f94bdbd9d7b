// What is refused before any I/O; every refusal names the subscription.
#include "scripted_broker.hpp"

#include <gtest/gtest.h>

using namespace core_test;

namespace {

void consume(bytes_view) {}
bytes_view answer(bytes_view payload) { return payload; }

/// The refusal of the only subscription, or "no error".
std::string refusal(scripted_rig& r) {
  const auto checked = r.app.core()->check();
  if (!checked) {
    EXPECT_EQ(checked.error(), errc::invalid_options) << checked.error().message();
    EXPECT_TRUE(checked.error().message().contains("subscription '")) << checked.error().message();
  }
  EXPECT_TRUE(r.broker->journal.empty()); // no I/O
  return message_of(checked);
}

#define EXPECT_REFUSED(rig, ...)                                                                                       \
  do {                                                                                                                 \
    const std::string text = refusal(rig);                                                                             \
    for (const char* part : {__VA_ARGS__})                                                                             \
      EXPECT_TRUE(text.contains(part)) << text << "\n  should say: " << part;                                          \
  } while (false)

} // namespace

TEST(plan, accepts_the_defaults_and_every_setting_together) {
  scripted_rig r;
  r.subscribe("orders", consume);
  r.subscribe("orders", consume)
      .named("all")
      .workers(8)
      .max_attempts(5)
      .dead_letter("orders.dead")
      .retry_to("orders.again")
      .on_exception(failure_policy::retry())
      .on_undecodable(failure_policy::skip())
      .stop_when_ended();
  r.subscribe("orders", answer).reply("answers");
  r.subscribe("orders", answer).reply_to_sender();
  EXPECT_EQ(refusal(r), "no error");
}

TEST(plan, refuses_a_bad_source) {
  scripted_rig r;
  r.subscribe("bad", consume).named("billing");
  EXPECT_REFUSED(r, "'billing'", "a bad name");
}
TEST(plan, refuses_an_empty_name) {
  scripted_rig r;
  r.subscribe("orders", consume).named("");
  EXPECT_REFUSED(r, "name is empty");
}
TEST(plan, refuses_zero_workers) {
  scripted_rig r;
  r.subscribe("orders", consume).workers(0);
  EXPECT_REFUSED(r, "'orders'", "workers(0)");
}
TEST(plan, refuses_zero_attempts) {
  scripted_rig r;
  r.subscribe("orders", consume).max_attempts(0);
  EXPECT_REFUSED(r, "'orders'", "max_attempts(0)");
}
// core 2.11: a dead letter is what becomes of a spent message, so it needs a cap.
TEST(plan, refuses_a_dead_letter_without_a_cap) {
  scripted_rig r;
  r.subscribe("orders", consume).dead_letter("orders.dead");
  EXPECT_REFUSED(r, "'orders'", "max_attempts");
}
TEST(plan, refuses_an_empty_dead_letter) {
  scripted_rig r;
  r.subscribe("orders", consume).max_attempts(2).dead_letter("");
  EXPECT_REFUSED(r, "'orders'", "dead_letter");
}
TEST(plan, refuses_an_empty_retry_destination) {
  scripted_rig r;
  r.subscribe("orders", consume).retry_to("");
  EXPECT_REFUSED(r, "'orders'", "retry_to");
}
// core 2.11: where the broker moves messages, the retry position cannot be configured.
TEST(plan, refuses_retry_to_where_the_broker_redelivers) {
  scripted_rig r;
  r.broker->path = retry_path::kind::broker_moves;
  r.subscribe("orders", consume).retry_to("orders.again");
  EXPECT_REFUSED(r, "'orders'", "retry_to");
}
// core 3.29
TEST(plan, refuses_a_wildcard_without_a_named_retry_destination) {
  scripted_rig r;
  r.broker->path = retry_path::kind::named;
  r.subscribe("orders", consume);
  EXPECT_REFUSED(r, "'orders'", "retry_to");
  scripted_rig named;
  named.broker->path = retry_path::kind::named;
  named.subscribe("orders", consume).retry_to("orders.again");
  EXPECT_EQ(refusal(named), "no error");
}
TEST(plan, refuses_a_reply_without_a_destination) {
  scripted_rig r;
  r.subscribe("orders", answer);
  EXPECT_REFUSED(r, "'orders'", "reply(", "reply_to_sender()");
}
TEST(plan, refuses_an_empty_reply_destination) {
  scripted_rig r;
  r.subscribe("orders", answer).reply("");
  EXPECT_REFUSED(r, "'orders'", "reply");
}
TEST(plan, refuses_a_reply_of_a_handler_that_returns_none) {
  scripted_rig r;
  r.subscribe("orders", consume).reply("answers");
  EXPECT_REFUSED(r, "'orders'", "the handler returns none");
}

struct settings {
  int limit = 0;
};

// A handler would read a state that nobody built.
TEST(plan, refuses_a_service_whose_state_nobody_builds) {
  const auto broker = std::make_shared<script>();
  service<settings> app{service_info{"stateful"}};
  auto on = app.with_broker(scripted_broker(broker));
  on.subscribe(scripted_topic("orders", broker), [](bytes_view, const settings&) {});
  const auto checked = app.core()->check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error(), errc::invalid_options);
  EXPECT_TRUE(checked.error().message().contains("on_startup")) << checked.error().message();
}

TEST(plan, a_refusal_aborts_the_start_before_any_broker_is_dialled) {
  scripted_rig r;
  r.subscribe("orders", consume).workers(0);
  const auto started = r.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::invalid_options);
  EXPECT_TRUE(r.broker->journal.empty());
}
