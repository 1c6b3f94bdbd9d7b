// What a start checks, creates and changes. "s1" to "s37" are the rows of the specification's list.
#include "fake_fixture.hpp"

#include <millrace/service.hpp>

#include <thread>

namespace millrace::pubsub::test {
namespace {

using topology = on_fake;

open_options dead_letters(std::uint32_t attempts, std::string to) {
  open_options o;
  o.max_attempts = attempts;
  o.dead_letter = std::move(to);
  return o;
}

std::size_t all_calls(const fake_pubsub& server) {
  std::size_t n = 0;
  for (const char* method :
       {"GetTopic", "CreateTopic", "GetSubscription", "CreateSubscription", "UpdateSubscription", "StreamingPull"})
    n += server.calls(method);
  return n;
}

TEST_F(topology, P3_what_no_service_takes_is_refused_before_any_call) {
  client c(at(server));
  waiting_sink seen;
  open_options half_a_declaration;
  half_a_declaration.max_attempts = 5;
  open_options other_half;
  other_half.dead_letter = "dead";
  const std::pair<subscription, open_options> bad[] = {
      {subscription(""), {}},
      {subscription("worker").create_with_topic(""), {}},
      {subscription("worker").max_outstanding(0), {}},
      {subscription("no"), {}},
      {subscription("worker"), half_a_declaration},
      {subscription("worker"), other_half},
      {subscription("worker"), dead_letters(4, "dead")},
      {subscription("worker"), dead_letters(101, "dead")},
      {subscription("worker"), dead_letters(5, "")},
  };
  for (const auto& [source, options] : bad) {
    const auto refused = open(c, source, seen, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), millrace::errc::invalid_options) << refused.error().message();
  }
  EXPECT_EQ(all_calls(server), 0U);
}

TEST_F(topology, P3_the_limits_of_the_limit_are_taken) {
  client c(at(server));
  server.create_topic(topic_name("dead"));
  for (const std::uint32_t n : {5U, 100U}) {
    const std::string id = "limit-" + std::to_string(n);
    server.create_subscription({subscription_name(id), topic});
    waiting_sink seen;
    EXPECT_TRUE(open(c, subscription(id), seen, dead_letters(n, "dead")));
    EXPECT_EQ(server.find_subscription(subscription_name(id))->max_delivery_attempts, static_cast<std::int32_t>(n));
  }
}

TEST_F(topology, P4_what_is_missing_is_created_with_ordering_and_policy) {
  client c(at(server));
  waiting_sink seen;
  const auto port =
      value_of(open(c, subscription("new-one").create_with_topic("new-topic"), seen, dead_letters(7, "new-dead")));
  EXPECT_TRUE(server.has_topic(topic_name("new-topic")));
  EXPECT_TRUE(server.has_topic(topic_name("new-dead")));
  const auto made = server.find_subscription(subscription_name("new-one"));
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->topic, topic_name("new-topic"));
  EXPECT_TRUE(made->ordered);
  EXPECT_EQ(made->dead_letter_topic, topic_name("new-dead"));
  EXPECT_EQ(made->max_delivery_attempts, 7);
  EXPECT_EQ(server.calls("UpdateSubscription"), 0U);
  value_of(c.send("new-topic", "tea"));
  EXPECT_TRUE(ack(seen.next()));
}

TEST_F(topology, P4_nothing_declared_creates_no_policy_and_existing_things_are_left_alone) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker").create_with_topic("orders"), seen));
  EXPECT_EQ(server.calls("CreateTopic"), 0U);
  EXPECT_EQ(server.calls("CreateSubscription"), 0U);
  EXPECT_EQ(server.calls("UpdateSubscription"), 0U);
  EXPECT_EQ(server.find_subscription(name)->dead_letter_topic, "");
  EXPECT_FALSE(server.find_subscription(name)->ordered);
}

TEST_F(topology, P5_a_declared_policy_is_written_into_an_existing_subscription) {
  client c(at(server));
  server.create_topic(topic_name("dead"));
  waiting_sink seen;
  const auto port =
      value_of(open(c, subscription("worker").create_with_topic("orders"), seen, dead_letters(6, "dead")));
  EXPECT_EQ(server.find_subscription(name)->dead_letter_topic, topic_name("dead"));
  EXPECT_EQ(server.find_subscription(name)->max_delivery_attempts, 6);
}

TEST_F(topology, P6_a_bare_name_declares_in_the_same_way) {
  client c(at(server));
  server.create_topic(topic_name("dead"));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen, dead_letters(6, "dead")));
  EXPECT_EQ(server.find_subscription(name)->max_delivery_attempts, 6);
  EXPECT_EQ(server.calls("GetTopic") + server.calls("GetSubscription") + server.calls("CreateTopic"), 0U);
}

TEST_F(topology, P6_s34_two_declarations_of_one_subscription_that_differ_are_refused) {
  client c(at(server));
  server.create_topic(topic_name("dead"));
  waiting_sink seen;
  const auto first = value_of(open(c, subscription("worker"), seen, dead_letters(6, "dead")));
  waiting_sink other;
  const std::size_t before = all_calls(server);
  for (const auto& [source, options] :
       {std::pair(subscription(name), dead_letters(7, "dead")), std::pair(subscription("worker"), open_options()),
        std::pair(subscription("worker").create_with_topic("orders"), dead_letters(6, "other-dead"))}) {
    const auto refused = open(c, source, other, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), make_error_code(errc::invalid_descriptor));
    EXPECT_TRUE(refused.error().context().contains(name));
  }
  EXPECT_EQ(all_calls(server), before);
  EXPECT_TRUE(open(c, subscription(name), other, dead_letters(6, topic_name("dead")))); // the same, in full
}

TEST_F(topology, P6_s34_registrations_that_differ_end_the_start_before_the_first_call_of_any) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(at(server));
  on.subscribe(subscription("first").create_with_topic("first-topic"), [](bytes_view) {});
  on.subscribe("worker", [](bytes_view) {}).named("bare").max_attempts(5).dead_letter("dead");
  on.subscribe(subscription(name), [](bytes_view) {}).named("in full").max_attempts(6).dead_letter("dead");
  const auto refused = app.start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), millrace::errc::invalid_options);
  EXPECT_TRUE(refused.error().message().contains("in full")) << refused.error().message();
  EXPECT_TRUE(refused.error().message().contains(name)) << refused.error().message();
  EXPECT_EQ(all_calls(server), 0U);
}

TEST_F(topology, P3_a_bad_declaration_ends_the_start_before_the_first_call_of_any) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(at(server));
  on.subscribe(subscription("first").create_with_topic("first-topic"), [](bytes_view) {});
  on.subscribe("worker", [](bytes_view) {}).max_attempts(4).dead_letter("dead");
  const auto refused = app.start();
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message().contains("max_attempts(4)")) << refused.error().message();
  EXPECT_EQ(all_calls(server), 0U);
}

TEST_F(topology, s31_a_dead_letter_topic_that_is_missing_aborts_the_start) {
  client c(at(server));
  waiting_sink seen;
  const auto refused = open(c, subscription("worker"), seen, dead_letters(5, "missing"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::admin));
  EXPECT_EQ(refused.error().server_code(), 5);
}

TEST_F(topology, s6_a_subscription_that_is_not_known_everywhere_yet_is_waited_for) {
  client c(at(server));
  server.fail_next("StreamingPull", 5, 2);
  waiting_sink seen;
  EXPECT_TRUE(open(c, subscription("brand-new").create_with_topic("orders"), seen));
}

TEST_F(topology, L2_a_subscription_that_is_missing_or_forbidden_aborts_the_start) {
  client c(at(server));
  waiting_sink seen;
  const auto missing = open(c, subscription("nowhere"), seen);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), make_error_code(errc::receive));
  EXPECT_TRUE(missing.error().context().contains("nowhere"));
  server.fail_next("StreamingPull", 7);
  const auto forbidden = open(c, subscription("worker"), seen);
  ASSERT_FALSE(forbidden);
  EXPECT_EQ(forbidden.error().server_code(), 7);
}

TEST_F(topology, s7_a_subscription_of_another_topic_is_not_taken_for_the_declared_one) {
  client c(at(server));
  server.delete_topic(topic);
  waiting_sink seen;
  const auto refused = open(c, subscription("worker").create_with_topic("orders"), seen);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::admin));
  EXPECT_TRUE(refused.error().context().contains("_deleted-topic_")) << refused.error().context();
}

TEST_F(topology, s11_a_consumer_needs_no_right_to_look_its_subscription_up) {
  client c(at(server));
  server.fail_next("GetSubscription", 7, 10);
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen));
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(ack(seen.next()));
}

TEST_F(topology, s33_two_services_that_create_the_same_both_start) {
  client one(at(server));
  client two(at(server));
  waiting_sink first;
  waiting_sink second;
  const auto source = subscription("raced").create_with_topic("raced-topic");
  auto racing = std::async(std::launch::async, [&] { return open(two, source, second).has_value(); });
  EXPECT_TRUE(open(one, source, first));
  EXPECT_TRUE(racing.get());
  // The slower one saw nothing there, and was told that it exists.
  server.fail_next("GetTopic", 5);
  server.fail_next("GetSubscription", 5);
  waiting_sink third;
  EXPECT_TRUE(open(one, source, third));
}

TEST_F(topology, a_failed_lookup_is_the_error_and_nothing_is_created) {
  client c(at(server));
  server.fail_next("GetTopic", 7, 1, "may not look");
  waiting_sink seen;
  const auto refused = open(c, subscription("made").create_with_topic("made"), seen);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().server_code(), 7);
  EXPECT_TRUE(refused.error().server_text().contains("may not look"));
  EXPECT_EQ(server.calls("CreateTopic"), 0U);
}

TEST_F(topology, calls_that_fail_for_a_passing_reason_are_tried_again) {
  client c(at(server));
  server.fail_next("GetTopic", 14, 2);
  server.fail_next("CreateSubscription", 10, 1);
  waiting_sink seen;
  EXPECT_TRUE(open(c, subscription("made").create_with_topic("made"), seen));
}

TEST_F(topology, one_that_never_answers_is_given_up_in_time) {
  broker b = at(server);
  b.open_timeout(300ms);
  client c(b);
  server.hold("GetTopic");
  waiting_sink seen;
  const auto refused = open(c, subscription("made").create_with_topic("made"), seen);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().server_code(), 4);
  server.hold("GetTopic", false);
}

} // namespace
} // namespace millrace::pubsub::test
