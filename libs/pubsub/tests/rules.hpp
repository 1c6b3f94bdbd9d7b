#pragma once

// The rules of Pub/Sub, P1 to P10, wherever the including file says: `here()` is a broker of that place, and `how` the
// mode to connect it in.
#include "pubsub_client.hpp"
#include "waiting_sink.hpp"

#include <unistd.h>

#include <atomic>

namespace millrace::pubsub::test {

broker here();
extern const client::mode how;

class rules : public ::testing::Test {
 public:
  static std::string fresh(const std::string& prefix) {
    static std::atomic<int> count = 0;
    return prefix + "-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  }
  /// A connection of its own, to the same place.
  [[nodiscard]] std::unique_ptr<client> connect() const { return std::make_unique<client>(at, how); }
  static result<std::unique_ptr<subscription_port>> open(client& c, const subscription& source, sink& to,
                                                         const open_options& options = {}) {
    return sync_wait(c.on().open(source, to, options));
  }
  static void stop(std::unique_ptr<subscription_port> port) { sync_wait(port->stop()); }
  static open_options policy(std::uint32_t attempts, std::string to) {
    open_options o;
    o.max_attempts = attempts;
    o.dead_letter = std::move(to);
    return o;
  }
  const broker at = here();
  const std::string id = fresh("rule-orders");
};

TEST_F(rules, P1_P2_copies_of_a_broker_reach_the_same_project_and_each_connection_has_all_four_clients) {
  const auto one = connect();
  const auto two = connect();
  waiting_sink seen;
  const auto port = value_of(open(*one, subscription(id).create_with_topic(id), seen)); // both administrators
  value_of(two->send(id, "tea"));
  EXPECT_TRUE(ack(seen.next()));
}

TEST_F(rules, P3_a_descriptor_is_checked_before_anything_is_created) {
  const auto c = connect();
  waiting_sink seen;
  open_options half;
  half.max_attempts = 5;
  const subscription source = subscription(id).create_with_topic(id);
  for (const open_options& bad : {policy(4, "dead"), policy(101, "dead"), policy(5, ""), half})
    EXPECT_EQ(open(*c, source, seen, bad).error(), make_error_code(errc::invalid_descriptor));
  EXPECT_EQ(open(*c, subscription(""), seen).error(), make_error_code(errc::invalid_descriptor));
  EXPECT_TRUE(open(*c, source, seen));
}

TEST_F(rules, P4_what_is_missing_is_created_and_what_is_there_is_taken) {
  const std::string dead = fresh("rule-dead");
  const auto c = connect();
  const subscription source = subscription(id).create_with_topic(id);
  waiting_sink seen;
  stop(value_of(open(*c, source, seen, policy(5, dead))));
  waiting_sink letters;
  const auto reads = value_of(open(*c, subscription(dead).create_with_topic(dead), letters)); // its topic is there
  const auto again = value_of(open(*c, source, seen, policy(5, dead)));
  value_of(c->send(id, "tea"));
  value_of(c->send(dead, "letter"));
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_TRUE(ack(letters.next()));
}

TEST_F(rules, P5_P6_a_policy_is_written_into_a_subscription_that_exists_also_by_its_bare_name) {
  const std::string dead = fresh("rule-dead");
  const auto before = connect();
  waiting_sink seen;
  waiting_sink letters;
  const auto reads = value_of(open(*before, subscription(dead).create_with_topic(dead), letters));
  stop(value_of(open(*before, subscription(id).create_with_topic(id), seen)));
  const auto c = connect();
  const auto port = value_of(open(*c, subscription(id), seen, policy(5, dead)));
  value_of(c->send(id, "tea"));
  incoming* const m = seen.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->delivery_count(), 1U); // there is no count without a policy
  EXPECT_TRUE(ack(m));
}

TEST_F(rules, P6_two_declarations_of_one_subscription_that_differ_are_refused) {
  const std::string dead = fresh("rule-dead");
  const auto c = connect();
  waiting_sink seen;
  const auto port = value_of(open(*c, subscription(id).create_with_topic(id), seen, policy(5, dead)));
  EXPECT_EQ(open(*c, subscription(subscription_name(id)), seen, policy(6, dead)).error(),
            make_error_code(errc::invalid_descriptor));
  EXPECT_EQ(c->on().declare(subscription(id), {}).error(), make_error_code(errc::invalid_descriptor));
  EXPECT_TRUE(c->on().declare(subscription(subscription_name(id)), policy(5, topic_name(dead))));
}

TEST_F(rules, P7_the_first_publish_starts_its_topics_publisher) {
  const auto c = connect();
  waiting_sink seen;
  const auto port = value_of(open(*c, subscription(id).create_with_topic(id), seen));
  const receipt first = value_of(c->send(id, "1"));
  const receipt second = value_of(c->send(topic_name(id), "2")); // the same one
  EXPECT_FALSE(first.id.empty());
  EXPECT_NE(first.id, second.id);
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_TRUE(ack(seen.next()));
}

TEST_F(rules, P8_L3_a_shutdown_sends_what_was_published_before) {
  const auto c = connect();
  waiting_sink seen;
  const auto port = value_of(open(*c, subscription(id).create_with_topic(id), seen));
  const auto sender = connect();
  task_group sends(sender->rt);
  std::atomic<int> accepted = 0;
  const auto send = [&](int i) -> task<void> {
    auto sent = co_await send_task(sender->rt, sender->publisher, id, std::to_string(i), {}, {});
    accepted += sent ? 1 : 0;
  };
  for (int i = 0; i < 100; ++i)
    sends.spawn(send(i), "a publish");
  value_of(sender->shutdown());
  EXPECT_TRUE(sync_wait(sends.drain(sender->rt.now() + 10s)));
  EXPECT_EQ(accepted.load(), 100);
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(ack(seen.next())) << i;
}

TEST_F(rules, P9_what_is_held_when_the_subscription_stops_is_settled_afterwards) {
  const auto c = connect();
  waiting_sink seen;
  auto port = value_of(open(*c, subscription(id).create_with_topic(id), seen));
  value_of(c->send(id, "tea"));
  incoming* const held = seen.next();
  ASSERT_NE(held, nullptr);
  stop(std::move(port));
  const auto next = connect();
  waiting_sink other;
  const auto reads = value_of(open(*next, subscription(id), other));
  EXPECT_TRUE(ack(held));
  value_of(next->send(id, "coffee"));
  incoming* const m = other.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), "coffee");
  EXPECT_TRUE(ack(m));
}

TEST_F(rules, P10_L4_after_the_shutdown_publishes_and_settlements_answer_an_error) {
  const auto c = connect();
  waiting_sink seen;
  auto port = value_of(open(*c, subscription(id).create_with_topic(id), seen));
  value_of(c->send(id, "tea"));
  incoming* const held = seen.next();
  ASSERT_NE(held, nullptr);
  stop(std::move(port));
  value_of(c->shutdown());
  EXPECT_EQ(c->send(id, "late").error(), make_error_code(errc::not_connected));
  EXPECT_EQ(held->settle({settlement_kind::ack, {}}).error(), make_error_code(errc::not_connected));
  held->release();
}

} // namespace millrace::pubsub::test
