// ActiveMQ Artemis: the reference, with every outcome, durable subscriptions, selectors, transactions.
#include "support/client.hpp"
#include "support/gate.hpp"
#include "support/live_server.hpp"
#include "support/queue_kit.hpp"

#include <millrace/testing/conformance_gtest.hpp>

#include <gtest/gtest.h>

#include <deque>

namespace millrace::amqp::testing {
namespace {

namespace conformance = millrace::testing::conformance;

live_server& server() {
  static live_server one("artemis");
  return one;
}

/// A connected client with one subscription of a fresh queue.
struct session {
  explicit session(const std::string& prefix, std::uint32_t credit = 256)
      : address(fresh_name(prefix)), c(broker(server().url())) {
    EXPECT_TRUE(c.connected());
    subscribed = c.open(queue(address).credit(credit), to);
    EXPECT_TRUE(subscribed) << subscribed.error().message();
    port = c.pair(publish());
  }
  void send(const std::string& text) {
    const auto sent = c.send(*port, address, text);
    EXPECT_TRUE(sent) << sent.error().message();
  }
  std::string address;
  waiting_sink to; ///< outlives the subscription
  client c;
  open_result subscribed = fail(errc::closed, "");
  std::shared_ptr<publish_port> port;
};

TEST(amqp_artemis, A2_A3_A5_outcomes_and_counts) {
  session s("outcomes");
  EXPECT_TRUE((*s.c).peer().starts_with("apache-activemq-artemis")) << (*s.c).peer();
  s.send("one");
  incoming* m = s.to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->delivery_count(), 1U);
  EXPECT_TRUE(settle(m, settlement_kind::retry));
  m = s.to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(text_of(m), "one");
  EXPECT_EQ(m->delivery_count(), 2U);
  m->release(); // unsettled: it comes back, and no attempt is counted
  m = s.to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->delivery_count(), 2U);
  EXPECT_TRUE(settle(m, settlement_kind::drop));
  s.send("two");
  EXPECT_EQ(taken_text(s.to.next()), "two");
  s.subscribed->reset();
  const auto closed = s.c.shutdown();
  ASSERT_TRUE(closed) << closed.error().message();
  EXPECT_TRUE(closed->orderly());
}

/// Scenario 6, section 14: two of five, in order, until they are settled.
TEST(amqp_artemis, credit_of_two_holds_the_server_back) {
  session s("credit", 2);
  for (const char* text : {"1", "2", "3", "4", "5"})
    s.send(text);
  incoming* const one = s.to.next();
  incoming* const two = s.to.next();
  EXPECT_EQ(s.to.next(200ms), nullptr);
  EXPECT_TRUE(settle(one));
  EXPECT_EQ(text_of(two), "2");
  EXPECT_TRUE(settle(two));
  for (const char* text : {"3", "4", "5"}) {
    incoming* const m = s.to.next();
    EXPECT_EQ(text_of(m), text);
    EXPECT_TRUE(settle(m));
  }
}

/// Two readers of a queue share, two subscriptions of a topic get a copy each.
TEST(amqp_artemis, queues_share_and_topics_copy) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  const std::string address = fresh_name("topic");
  waiting_sink one, two;
  const auto a = c.open(topic(address), one);
  const auto b = c.open(topic(address), two);
  ASSERT_TRUE(a && b);
  const auto port = c.pair(publish().to(node_kind::topic));
  for (const char* text : {"1", "2", "3"})
    ASSERT_TRUE(c.send(*port, address, text));
  for (waiting_sink* each : {&one, &two}) {
    for (const char* text : {"1", "2", "3"}) {
      incoming* const m = each->next();
      EXPECT_EQ(text_of(m), text);
      EXPECT_TRUE(settle(m));
    }
  }
}

TEST(amqp_artemis, a_selector_chooses) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  const std::string address = fresh_name("selected");
  waiting_sink to;
  const auto open = c.open(queue(address).selector("region = 'eu'"), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(publish());
  for (const char* region : {"us", "eu", "asia", "eu"}) {
    header_map headers;
    headers.set("region", region);
    ASSERT_TRUE(c.send(*port, address, region, &headers));
  }
  for (int i = 0; i < 2; ++i) {
    incoming* const m = to.next();
    EXPECT_EQ(text_of(m), "eu");
    EXPECT_TRUE(settle(m));
  }
  EXPECT_EQ(to.next(200ms), nullptr);
}

/// What is published while nobody reads waits for the durable subscription.
TEST(amqp_artemis, a_durable_subscription_waits_for_its_reader) {
  const std::string address = fresh_name("durable");
  const std::string container = fresh_name("container");
  waiting_sink to;
  {
    client c(broker(server().url()).container_id(container));
    ASSERT_TRUE(c.connected());
    const auto open = c.open(topic(address).durable("audit"), to);
    ASSERT_TRUE(open) << open.error().message();
    const auto closed = c.shutdown();
    ASSERT_TRUE(closed) << closed.error().message();
  }
  client c(broker(server().url()).container_id(container));
  ASSERT_TRUE(c.connected());
  const auto port = c.pair(publish().to(node_kind::topic));
  ASSERT_TRUE(c.send(*port, address, "missed"));
  const auto open = c.open(topic(address).durable("audit"), to);
  ASSERT_TRUE(open) << open.error().message();
  incoming* const m = to.next();
  EXPECT_EQ(text_of(m), "missed");
  EXPECT_TRUE(settle(m));
}

TEST(amqp_artemis, at_most_once_leaves_the_server_on_receipt) {
  session s("once");
  client other(broker(server().url()));
  const std::string address = fresh_name("at_most_once");
  waiting_sink to;
  auto open = other.open(queue(address).settle(amqp::settle::at_most_once), to);
  ASSERT_TRUE(open);
  ASSERT_TRUE(other.send(*other.pair(publish()), address, "x"));
  incoming* const m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->settle({}).error(), millrace::errc::unsupported);
  m->release();
  open->reset();
  waiting_sink later;
  const auto again = other.open(queue(address), later);
  ASSERT_TRUE(again);
  EXPECT_EQ(later.next(300ms), nullptr);
}

/// Per-message options and what a delivery knows.
TEST(amqp_artemis, options_and_fields) {
  session s("options");
  message_options options;
  options.priority = 9;
  options.durable = false;
  ASSERT_TRUE(s.c.send(*s.port, s.address, "x", nullptr, &options));
  incoming* const m = s.to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(*static_cast<const std::uint8_t*>(m->field(priority)), 9);
  EXPECT_FALSE(*static_cast<const bool*>(m->field(durable)));
  EXPECT_TRUE(settle(m));
}

/// Section 8 and scenario 25: all or nothing, and a post that is refused rolls back.
TEST(amqp_artemis, transactions_are_all_or_nothing) {
  session s("tx");
  const auto port = s.c.pair(transactional_publish());
  auto tx = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(tx) << tx.error().message();
  const auto post = [&](transaction_port& on, const std::string& to, const std::string& text) {
    return sent_message(on, s.c.rt, to, text).answer();
  };
  ASSERT_TRUE(post(**tx, s.address, "1"));
  ASSERT_TRUE(post(**tx, s.address, "2"));
  EXPECT_EQ(s.to.next(200ms), nullptr);
  const auto committed = sync_wait((*tx)->commit());
  ASSERT_TRUE(committed) << committed.error().message();
  for (const char* text : {"1", "2"}) {
    incoming* const m = s.to.next();
    EXPECT_EQ(text_of(m), text);
    EXPECT_TRUE(settle(m));
  }
  auto aborted = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(aborted);
  ASSERT_TRUE(post(**aborted, s.address, "3"));
  ASSERT_TRUE(sync_wait((*aborted)->abort()));
  auto failing = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(failing);
  ASSERT_TRUE(post(**failing, s.address, "4"));
  EXPECT_FALSE(post(**failing, "fixed." + fresh_name("missing"), "5"));
  EXPECT_EQ(sync_wait((*failing)->commit()).error(), amqp::errc::transaction);
  EXPECT_EQ(s.to.next(200ms), nullptr);
  auto next = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(next);
  ASSERT_TRUE(post(**next, s.address, "6"));
  ASSERT_TRUE(sync_wait((*next)->commit()));
  EXPECT_EQ(taken_text(s.to.next()), "6");
}

/// Scenario 20: the server refuses, with its words.
TEST(amqp_artemis, a_full_address_rejects) {
  client c(broker(server().url()).publish_timeout(5s));
  ASSERT_TRUE(c.connected());
  const auto port = c.pair(publish().to(node_kind::queue));
  const std::string address = "full." + fresh_name("address");
  result<receipt> sent;
  for (int i = 0; i < 200 && sent; ++i)
    sent = c.send(*port, address, std::string(1000, 'x'));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), millrace::errc::publish) << sent.error().message();
  EXPECT_FALSE(sent.error().server_text().empty());
}

/// Scenario 9: no credit any more; the publish is bounded.
TEST(amqp_artemis, a_blocked_address_bounds_the_publish) {
  client c(broker(server().url()).publish_timeout(1s));
  ASSERT_TRUE(c.connected());
  const auto port = c.pair(publish().to(node_kind::queue));
  const std::string address = "blocked." + fresh_name("address");
  std::deque<sent_message> sent;
  const std::string text(1000, 'x');
  for (int i = 0; i < 3000; ++i)
    sent.emplace_back(*port, c.rt, outgoing{address, as_bytes(text), nullptr, nullptr});
  int timeouts = 0;
  for (sent_message& s : sent) {
    const auto answer = s.answer();
    if (!answer && answer.error() == millrace::errc::timeout) ++timeouts;
  }
  EXPECT_GT(timeouts, 0);
}

/// A3: a node that may not be made.
TEST(amqp_artemis, A3_A4_a_missing_node_is_named) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  waiting_sink to;
  const std::string address = "fixed." + fresh_name("missing");
  const auto open = c.open(queue(address), to);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error(), amqp::errc::attach);
  EXPECT_NE(open.error().message().find(address), std::string::npos);
  EXPECT_FALSE(open.error().server_text().empty());
  const auto sent = c.send(*c.pair(publish()), address, "x");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), amqp::errc::attach) << sent.error().message();
}

TEST(amqp_artemis, A2_a_wrong_password_is_refused_and_not_shown) {
  std::string url = server().url();
  url.replace(url.find(":millrace@"), 10, ":hunter2@");
  client c{broker(url)};
  ASSERT_FALSE(c.connected());
  EXPECT_EQ(c.failure(), millrace::errc::connect);
  EXPECT_EQ(c.failure().message().find("hunter2"), std::string::npos);
  EXPECT_NE(c.failure().message().find("SASL"), std::string::npos) << c.failure().message();
}

/// A2 over TLS: the certificate and its name are verified.
TEST(amqp_artemis, A2_tls_verifies_the_server) {
  const std::string url = server().word("tls_url");
  client trusting(broker(url).with_tls(tls_options().ca_file(server().word("ca"))));
  ASSERT_TRUE(trusting.connected()) << trusting.failure().message();
  const std::string address = fresh_name("tls");
  waiting_sink to;
  const auto open = trusting.open(queue(address), to);
  ASSERT_TRUE(open);
  const std::string large(200'000, 'x');
  ASSERT_TRUE(trusting.send(*trusting.pair(publish()), address, large));
  EXPECT_EQ(taken_text(to.next()), large);
  client stranger{broker(url)};
  ASSERT_FALSE(stranger.connected());
  EXPECT_NE(stranger.failure().message().find("TLS"), std::string::npos) << stranger.failure().message();
  client misnamed(broker(url).with_tls(tls_options().ca_file(server().word("ca")).expected_hostname("elsewhere")));
  EXPECT_FALSE(misnamed.connected());
  client careless(broker(url).with_tls(tls_options().skip_verification()));
  EXPECT_TRUE(careless.connected());
  client fileless(broker(url).with_tls(tls_options().ca_file("/no/such/file")));
  ASSERT_FALSE(fileless.connected());
  EXPECT_NE(fileless.failure().message().find("/no/such/file"), std::string::npos);
}

/// Scenario 22: with the subscription open and 64 in flight, again and again.
TEST(amqp_artemis, A5_A6_start_and_stop_cycles_with_deliveries_in_flight) {
  const std::string address = fresh_name("cycles");
  for (int i = 0; i < 16; ++i) {
    waiting_sink to;
    client c(broker(server().url()));
    ASSERT_TRUE(c.connected());
    auto open = c.open(queue(address).credit(64), to);
    ASSERT_TRUE(open);
    const auto port = c.pair(publish());
    std::deque<sent_message> sent;
    for (int k = 0; k < 64; ++k)
      sent.emplace_back(*port, c.rt, outgoing{address, as_bytes("m"), nullptr, nullptr});
    incoming* const held = to.next();
    ASSERT_NE(held, nullptr);
    for (sent_message& s : sent)
      EXPECT_TRUE(s.answer());
    if (i % 2 == 0) open->reset();
    const auto closed = c.shutdown();
    ASSERT_TRUE(closed) << closed.error().message();
    EXPECT_FALSE(held->settle({}));
    held->release();
  }
}

/// Section 14: no Nagle delay in an exchange.
TEST(amqp_artemis, a_request_takes_no_forty_milliseconds) {
  client responder(broker(server().url()));
  client asking(broker(server().url()));
  const std::string address = fresh_name("prices");
  waiting_sink to;
  const auto open = responder.open(queue(address), to);
  ASSERT_TRUE(open);
  const auto answers = responder.pair(publish());
  std::thread answering([&] {
    for (int i = 0; i < 25; ++i) {
      incoming* const m = to.next();
      if (m == nullptr) return;
      header_map headers;
      headers.set("correlation-id", *m->headers().get("correlation-id"));
      EXPECT_TRUE(responder.send(*answers, std::string(m->reply_to()), "42", &headers));
      EXPECT_TRUE(settle(m));
    }
  });
  const auto port = asking.pair(publish());
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 25; ++i) {
    const auto answer = sync_wait(port->request({address, as_bytes("?"), nullptr, nullptr}, 10s));
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->payload, "42");
  }
  const auto took = std::chrono::steady_clock::now() - began;
  answering.join();
  EXPECT_LT(took, 25 * 200ms); // a bound for a busy machine; the benchmark has the figure
}

conformance::kit_ptr kit() { return queue_kit("amqp_artemis", server, 200ms); }

conformance::kit_ptr transactional_kit() {
  return conformance::kit_of<broker, queue, transactional_publish>({
      .name = "amqp_artemis_transactional",
      .mode = conformance::run_mode::live,
      .can = {.settles = true,
              .requeues = true,
              .counts_deliveries = true,
              .redelivers_unsettled = true,
              .groups = true,
              .shared = true,
              .stores = true,
              .transactions = true},
      .make = [] { return broker(server().url()); },
      .source = [](const std::string& name) { return queue(name); },
      .quiet = 200ms,
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({kit(), transactional_kit()});

TEST(amqp_artemis_conformance, L1_L2_L3_L4_are_checked_on_a_server) {
  for (const char* rule : {"L1", "L2", "L3", "L4"})
    EXPECT_TRUE(conformance::proves(*kit(), rule)) << rule;
}

} // namespace
} // namespace millrace::amqp::testing
