// What is published, in which order, and what its publisher learns. "s1" to "s37" are the rows of the specification's
// list.
#include "fake_fixture.hpp"

#include <pubsub_wire.pb.h>

namespace millrace::pubsub::test {
namespace {

using publishing = on_fake;

std::vector<wire::PublishRequest> requests(const fake_pubsub& server) {
  std::vector<wire::PublishRequest> all;
  for (const std::string& body : server.recorded("Publish"))
    EXPECT_TRUE(all.emplace_back().ParseFromString(body));
  return all;
}

TEST_F(publishing, P7_a_message_alone_waits_for_no_timer_and_its_id_comes_back) {
  broker b = at(server);
  b.batches(batching().delay(1h));
  client c(b);
  EXPECT_EQ(server.calls("Publish"), 0U); // nothing starts before the first message
  const receipt one = value_of(c.send("orders", "tea"));
  const receipt two = value_of(c.send(topic, "coffee"));
  EXPECT_FALSE(one.id.empty());
  EXPECT_NE(one.id, two.id);
  EXPECT_EQ(server.waiting(name), 2U);
}

TEST_F(publishing, company_waits_for_the_answer_the_count_or_the_delay) {
  broker b = at(server);
  b.batches(batching().messages(10).delay(1h)).publish_flow(100, 1024UL * 1024);
  client c(b);
  server.record("Publish");
  server.hold("Publish");
  many_sends sends(c);
  for (int i = 0; i < 25; ++i)
    sends.add("orders", std::to_string(i));
  EXPECT_TRUE(eventually([&] { return server.calls("Publish") == 3; })); // 1, 10, 10; the last 4 wait
  server.hold("Publish", false);
  EXPECT_EQ(sends.accepted(), 25U);
  std::vector<int> sizes;
  for (const auto& r : requests(server))
    sizes.push_back(r.messages_size());
  std::ranges::sort(sizes); // three were on their way at once
  EXPECT_EQ(sizes, (std::vector<int>{1, 4, 10, 10}));
}

TEST_F(publishing, the_delay_sends_what_has_no_company) {
  broker b = at(server);
  b.batches(batching().delay(20ms));
  client c(b);
  server.hold("Publish");
  many_sends sends(c);
  sends.add("orders", "first");
  sends.add("orders", "second");
  EXPECT_TRUE(eventually([&] { return server.calls("Publish") == 2; }));
  server.hold("Publish", false);
  EXPECT_EQ(sends.accepted(), 2U);
}

TEST_F(publishing, s27_requests_are_of_legal_size_and_a_message_that_is_too_large_is_refused_alone) {
  broker b = at(server);
  b.batches(batching().messages(1'000'000).bytes(1'000'000'000)); // clamped
  client c(b);
  server.record("Publish");
  many_sends sends(c);
  for (int i = 0; i < 24; ++i)
    sends.add("orders", std::string(1'000'000, 'a'));
  for (int i = 0; i < 2500; ++i)
    sends.add("orders", "small");
  sends.add("orders", std::string(10 * 1024 * 1024 + 1, 'a'));
  EXPECT_EQ(sends.accepted(), 2524U);
  EXPECT_TRUE(sends.wait().back()->error().context().contains("10 MiB"));
  for (const auto& r : requests(server)) {
    EXPECT_LE(r.ByteSizeLong(), 10'000'000U);
    EXPECT_LE(r.messages_size(), 1000);
  }
}

TEST_F(publishing, a_message_of_nine_mebibytes_goes_through) {
  client c(at(server));
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("worker"), seen));
  const std::string large(9UL * 1024 * 1024, 'b');
  value_of(c.send("orders", large));
  incoming* const m = seen.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), large);
  EXPECT_TRUE(ack(m));
}

TEST_F(publishing, s8_a_topic_that_is_missing_is_named_and_its_key_is_free_afterwards) {
  client c(at(server));
  const auto refused = c.send("nowhere", "tea", "key");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::publish));
  EXPECT_EQ(refused.error().server_code(), 5);
  EXPECT_TRUE(refused.error().context().contains(topic_name("nowhere")));
  server.create_topic(topic_name("nowhere"));
  EXPECT_TRUE(c.send("nowhere", "tea", "key"));
}

TEST_F(publishing, messages_of_a_key_keep_their_order_over_requests_and_failures_that_pass) {
  fake_pubsub::subscription ordered(subscription_name("in-order"), topic);
  ordered.ordered = true;
  server.create_subscription(ordered);
  broker b = at(server);
  b.batches(batching().messages(7));
  client c(b);
  server.fail_next("Publish", 14, 3);
  server.record("Publish");
  many_sends sends(c);
  for (int i = 0; i < 200; ++i)
    sends.add("orders", std::to_string(i), i % 2 == 0 ? "even" : "odd");
  EXPECT_EQ(sends.accepted(), 200U);
  waiting_sink seen;
  const auto port = value_of(open(c, subscription("in-order"), seen));
  std::map<std::string, int> last{{"even", -1}, {"odd", -1}};
  for (int i = 0; i < 200; ++i) {
    incoming* const m = seen.next();
    ASSERT_NE(m, nullptr);
    const int n = std::stoi(std::string(as_text(m->payload())));
    EXPECT_GT(n, last[std::string(m->partition_key())]);
    last[std::string(m->partition_key())] = n;
    EXPECT_TRUE(ack(m));
  }
  for (const auto& r : requests(server))
    for (const auto& m : r.messages())
      EXPECT_EQ(m.ordering_key(), r.messages(0).ordering_key());
}

TEST_F(publishing, s21_s23_a_failure_of_a_key_fails_what_waits_behind_it_and_frees_the_key) {
  client c(at(server));
  server.fail_next("Publish", 9);
  server.hold("Publish");
  many_sends sends(c);
  sends.add("orders", "1", "key");
  ASSERT_TRUE(eventually([&] { return server.calls("Publish") == 1; })); // the one that fails
  sends.add("orders", "2", "key");
  sends.add("orders", "3", "key");
  sends.add("orders", "other", "another key");
  server.hold("Publish", false);
  EXPECT_EQ(sends.accepted(), 1U);
  const auto& answers = sends.wait();
  EXPECT_EQ((*answers[0]).error(), make_error_code(errc::publish));
  EXPECT_TRUE((*answers[2]).error().context().contains("an earlier message failed"));
  EXPECT_TRUE(c.send("orders", "4", "key"));
  EXPECT_EQ(server.waiting(name), 2U); // "other" and "4": nothing overtook
}

TEST_F(publishing, s22_many_keys_that_failed_in_an_outage_are_all_usable_afterwards) {
  client c(at(server));
  server.fail_next("Publish", 7, 500);
  many_sends failing(c);
  for (int i = 0; i < 500; ++i)
    failing.add("orders", "m", "key-" + std::to_string(i));
  EXPECT_EQ(failing.accepted(), 0U);
  many_sends sends(c);
  for (int i = 0; i < 500; ++i)
    sends.add("orders", "m", "key-" + std::to_string(i));
  EXPECT_EQ(sends.accepted(), 500U);
}

TEST_F(publishing, s29_the_last_message_of_a_key_goes_out_though_no_other_follows) {
  broker b = at(server);
  b.batches(batching().delay(1h));
  client c(b);
  server.slow_down("Publish", 20ms);
  many_sends sends(c);
  for (int i = 0; i < 5; ++i)
    sends.add("orders", std::to_string(i), "key");
  EXPECT_EQ(sends.accepted(), 5U);
}

TEST_F(publishing, s28_a_message_that_is_refused_does_not_fail_its_neighbours) {
  broker b = at(server);
  b.batches(batching().delay(1h)); // one request, whatever happens meanwhile
  client c(b);
  server.refuse_payload("bad");
  server.hold("Publish");
  many_sends sends(c);
  sends.add("orders", "alone");
  for (int i = 0; i < 99; ++i)
    sends.add("orders", i == 42 || i == 77 ? "bad" : "good");
  server.hold("Publish", false);
  EXPECT_EQ(sends.accepted(), 98U);
  EXPECT_EQ(server.waiting(name), 98U);
  const auto& answers = sends.wait();
  EXPECT_EQ((*answers[43]).error().server_code(), 3);
  EXPECT_TRUE((*answers[43]).error().server_text().contains("does not fit the schema"));
  EXPECT_FALSE(*answers[78]);
  EXPECT_LE(server.calls("Publish"), 35U); // halved, not sent one by one
}

TEST_F(publishing, s28_under_a_key_what_was_before_a_refused_message_arrives_and_what_is_behind_it_fails) {
  client c(at(server));
  server.refuse_payload("bad");
  server.hold("Publish");
  many_sends sends(c);
  for (const char* payload : {"1", "2", "3", "bad", "5", "6"})
    sends.add("orders", payload, "key");
  server.hold("Publish", false);
  EXPECT_EQ(sends.accepted(), 3U);
  const auto& answers = sends.wait();
  EXPECT_TRUE(*answers[2]);
  EXPECT_TRUE((*answers[3]).error().server_text().contains("schema"));
  EXPECT_TRUE((*answers[4]).error().context().contains("an earlier message failed"));
  EXPECT_FALSE(*answers[5]);
  EXPECT_TRUE(c.send("orders", "7", "key"));
  EXPECT_EQ(server.waiting(name), 4U);
}

TEST_F(publishing, the_key_of_a_call_beats_the_header_and_that_the_policy) {
  client c(at(server));
  server.record("Publish");
  const auto port = value_of(c.on().pair(publish().ordering_key("policy")));
  header_map header;
  header.set(partition_key_header, "header");
  const publish::options none;
  publish::options option;
  option.ordering_key("option");
  value_of(sync_wait(send_task(c.rt, port, "orders", "1", {}, none)));
  value_of(sync_wait(send_task(c.rt, port, "orders", "2", header, none)));
  value_of(sync_wait(send_task(c.rt, port, "orders", "3", header, option)));
  const auto sent = requests(server);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].messages(0).ordering_key(), "policy");
  EXPECT_EQ(sent[1].messages(0).ordering_key(), "header");
  EXPECT_EQ(sent[2].messages(0).ordering_key(), "option");
  EXPECT_TRUE(sent[2].messages(0).attributes().empty());
}

TEST_F(publishing, more_than_may_wait_is_refused_and_not_kept) {
  broker b = at(server);
  b.publish_flow(1, 10'000).batches(batching().messages(1));
  client c(b);
  server.hold("Publish");
  many_sends sends(c);
  for (int i = 0; i < 20; ++i)
    sends.add("orders", std::string(1000, 'a'));
  server.hold("Publish", false);
  const std::size_t accepted = sends.accepted();
  EXPECT_GE(accepted, 9U);
  EXPECT_LT(accepted, 20U);
  EXPECT_EQ((*sends.wait().back()).error(), millrace::errc::queue_full);
}

TEST_F(publishing, s36_what_the_service_refuses_is_not_sent) {
  client c(at(server));
  header_map goog;
  goog.set("goog-header", "x");
  header_map broken;
  broken.set("name", "\xff");
  header_map many;
  for (int i = 0; i < 101; ++i)
    many.set("h" + std::to_string(i), "x");
  for (const header_map& bad : {goog, broken, many})
    EXPECT_EQ(c.send("orders", "tea", {}, bad).error(), make_error_code(errc::publish));
  EXPECT_EQ(c.send("orders", "").error(), make_error_code(errc::publish));
  EXPECT_EQ(server.calls("Publish"), 0U);
}

TEST_F(publishing, one_that_stays_refused_is_given_up_in_time) {
  broker b = at(server);
  b.publish_timeout(500ms);
  client c(b);
  server.fail_next("Publish", 14, 1000, "down");
  const auto refused = c.send("orders", "tea");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().server_code(), 14);
  EXPECT_GT(server.calls("Publish"), 1U);
  EXPECT_LT(server.calls("Publish"), 10U);
}

} // namespace
} // namespace millrace::pubsub::test
