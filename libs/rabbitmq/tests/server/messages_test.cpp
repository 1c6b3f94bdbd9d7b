#include "server/live_server.hpp"

#include <millrace/context.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

TEST(rabbitmq_messages, headers_properties_and_bytes_come_back_as_they_went) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("round");
  const auto open = c.open(client::temporary(name), to);
  const auto port = c.pair(publish());
  header_map headers;
  headers.set("content-type", "application/json");
  headers.set("correlation-id", "c-1");
  headers.set("x-binary", std::string_view("\0\xff", 2));
  headers.set(partition_key_header, "customer-7");
  message_options options;
  options.priority = 4;
  options.expiration = 60s;
  const std::string body(300'000, 'b'); // several frames
  ASSERT_TRUE(c.send(*port, name, body, &headers, &options));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), body);
  EXPECT_EQ(m->subject(), name);
  EXPECT_EQ(m->headers().get("content-type"), "application/json");
  EXPECT_EQ(m->headers().get("correlation-id"), "c-1");
  EXPECT_EQ(m->headers().get("x-binary"), std::string_view("\0\xff", 2));
  EXPECT_EQ(m->headers().get("amqp-priority"), "4");
  EXPECT_EQ(m->headers().get("amqp-expiration"), "60000");
  EXPECT_EQ(m->partition_key(), "customer-7");
  EXPECT_EQ(*static_cast<const std::uint64_t*>(m->field(delivery_tag)), 1U);
  EXPECT_FALSE(*static_cast<const bool*>(m->field(redelivered)));
  EXPECT_TRUE(settle(m));
  ASSERT_TRUE(c.send(*port, name, ""));
  m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_TRUE(m->payload().empty());
  EXPECT_TRUE(settle(m));
}

TEST(rabbitmq_messages, exchanges_route_by_their_bindings) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("bound");
  const auto topic = exchange_spec::topic(name + ".topic").durable(false).auto_delete();
  const auto heads = exchange_spec::headers(name + ".headers").durable(false).auto_delete();
  const auto open = c.open(client::temporary(name)
                               .bind(topic, "order.*.eu")
                               .bind_with(heads, "", arguments().set("x-match", "all").set("kind", "new")),
                           to);
  ASSERT_TRUE(open) << open.error().message();
  const auto by_topic = c.pair(confirms().exchange(name + ".topic"));
  const auto by_header = c.pair(confirms().exchange(name + ".headers"));
  EXPECT_TRUE(c.send(*by_topic, "order.1.eu", "topic"));
  EXPECT_FALSE(c.send(*by_topic, "order.1.us", "miss")); // scenario 9
  header_map kind;
  kind.set("kind", "new");
  EXPECT_TRUE(c.send(*by_header, "any", "headers", &kind));
  for (const char* expected : {"topic", "headers"}) {
    incoming* m = to.next();
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(as_text(m->payload()), expected);
    EXPECT_TRUE(settle(m));
  }
}

TEST(rabbitmq_messages, retry_comes_back_redelivered_and_drop_goes_to_the_dead_letters) {
  client c;
  waiting_sink to;
  waiting_sink dead;
  const std::string name = fresh_name("reject");
  const auto graveyard = c.open(client::temporary(name + ".dead"), dead);
  const auto open =
      c.open(client::temporary(name).dead_letter_exchange("").dead_letter_routing_key(name + ".dead"), to);
  ASSERT_TRUE(open);
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "x"));
  EXPECT_TRUE(settle(to.next(), settlement_kind::retry));
  incoming* again = to.next();
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(*static_cast<const bool*>(again->field(redelivered)));
  EXPECT_EQ(again->delivery_count(), 0U); // scenario 21: a classic queue keeps none
  EXPECT_TRUE(settle(again, settlement_kind::drop));
  incoming* buried = dead.next();
  ASSERT_NE(buried, nullptr);
  EXPECT_EQ(as_text(buried->payload()), "x");
  EXPECT_TRUE(settle(buried));
}

/// Scenario 22: nobody looks for the dead-letter queue; the server drops what it cannot route.
TEST(rabbitmq_messages, what_is_dropped_without_its_dead_letter_queue_is_gone) {
  client c;
  waiting_sink to;
  waiting_sink dead;
  const std::string name = fresh_name("unburied");
  const auto open =
      c.open(client::temporary(name).prefetch(1).dead_letter_exchange("").dead_letter_routing_key(name + ".dead"), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "gone") && c.send(*port, name, "next"));
  EXPECT_TRUE(settle(to.next(), settlement_kind::drop));
  EXPECT_TRUE(settle(to.next())); // by now the server has dropped the first
  const auto late = c.open(client::temporary(name + ".dead"), dead);
  ASSERT_TRUE(late) << late.error().message();
  ASSERT_TRUE(c.send(*port, name + ".dead", "first"));
  incoming* m = dead.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), "first");
  EXPECT_TRUE(settle(m));
}

/// Scenario 38: the copy's expiration is not there any more when it comes back.
TEST(rabbitmq_messages, R3_a_delayed_retry_waits_at_the_server_and_counts) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("later");
  auto described = queue(name)
                       .argument("x-expires", 60000)
                       .delay(delay::waiting_queue(name + ".w"))
                       .with_topology(topology::declare);
  const auto open = c.open(described, to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "x"));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_TRUE(m->delays());
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(settle(m, settlement_kind::retry_after, 300ms));
  m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 290ms);
  EXPECT_EQ(m->headers().get(retry_count_header), "1");
  EXPECT_FALSE(m->headers().get("amqp-expiration"));
  EXPECT_FALSE(*static_cast<const bool*>(m->field(redelivered)));
  // Scenario 27: refused here, not by the server, which would close the channel.
  EXPECT_EQ(m->settle({settlement_kind::retry_after, std::chrono::hours(24 * 60)}).error(),
            millrace::errc::invalid_options);
  EXPECT_TRUE(settle(m));
}

/// Scenario 20: the queue itself counts and buries.
TEST(rabbitmq_messages, R2_1_a_quorum_queue_dead_letters_after_max_attempts) {
  client c;
  waiting_sink to;
  waiting_sink dead;
  const std::string name = fresh_name("quorum");
  const auto graveyard = c.open(client::temporary(name + ".dead"), dead);
  open_options options;
  options.max_attempts = 3;
  options.dead_letter = name + ".dead";
  const auto described = quorum_queue(name).argument("x-expires", 60000).with_topology(topology::declare);
  const auto open = c.open(described, to, options);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "poison"));
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    incoming* m = to.next();
    ASSERT_NE(m, nullptr) << attempt;
    EXPECT_EQ(m->delivery_count(), attempt);
    EXPECT_TRUE(settle(m, settlement_kind::retry));
  }
  incoming* buried = dead.next();
  ASSERT_NE(buried, nullptr);
  EXPECT_EQ(as_text(buried->payload()), "poison");
  EXPECT_TRUE(settle(buried));
  waiting_sink more;
  EXPECT_TRUE(c.open(described, more, options)); // an equal declaration is accepted
}

/// Scenarios 7, 8 and 10.
TEST(rabbitmq_messages, what_the_server_refuses_is_an_error_of_confirms_and_the_publishers_go_on) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("refused");
  const auto open = c.open(
      client::temporary(name).prefetch(1).argument("x-max-length", 1).argument("x-overflow", "reject-publish"), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto missing = c.pair(confirms().exchange(name + ".nowhere"));
  const auto refused = c.send(*missing, "k", "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), rabbitmq::errc::publish);
  EXPECT_EQ(refused.error().server_code(), 404);
  const auto confirming = c.pair(confirms());
  result<receipt> full;
  for (int i = 0; i < 5 && full; ++i)
    full = c.send(*confirming, name, "x");
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message().find("refused"), std::string::npos);
  const auto plain_missing = c.pair(publish().exchange(name + ".nowhere"));
  EXPECT_TRUE(c.send(*plain_missing, "k", "lost")); // handed over, and lost
  const auto other = fresh_name("alive");
  waiting_sink alive;
  const auto open_too = c.open(client::temporary(other), alive);
  const auto plain = c.pair(publish());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(c.send(*plain, other, "x"));
    incoming* m = alive.next(1s);
    if (m == nullptr) continue; // went into the channel that was closing
    EXPECT_TRUE(settle(m));
    return;
  }
  ADD_FAILURE() << "the publish channel did not come back";
}

/// Scenario 28, and R4: the first request opens the channel.
TEST(rabbitmq_messages, R4_requests_are_answered_time_out_or_find_nobody) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("rpc");
  const auto open = c.open(client::temporary(name), to);
  const auto port = c.pair(request());
  const auto plain = c.pair(publish());
  outgoing question;
  question.destination = name;
  question.payload = as_bytes("2+2");
  std::jthread responder([&] {
    incoming* m = to.next();
    if (m == nullptr) return;
    header_map headers;
    headers.set("correlation-id", m->headers().get("correlation-id").value_or(""));
    (void)c.send(*plain, std::string(m->reply_to()), "4", &headers);
    settle(m);
  });
  auto answer = sync_wait(port->request(question, 20s));
  responder.join();
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->payload, "4");
  const auto silence = sync_wait(port->request(question, 200ms));
  ASSERT_FALSE(silence);
  EXPECT_EQ(silence.error(), rabbitmq::errc::request_timeout);
  const std::string nowhere = fresh_name("nowhere");
  question.destination = nowhere;
  const auto nobody = sync_wait(port->request(question, 20s));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error(), millrace::errc::publish);
}

/// Scenario 30: the address of a reply belongs to the default exchange. Through another one the reply reaches nobody,
/// which confirms say; the question runs into its time.
TEST(rabbitmq_messages, a_reply_through_a_named_exchange_reaches_nobody) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("astray");
  const auto open = c.open(client::temporary(name), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(request());
  outgoing question;
  question.destination = name;
  question.payload = as_bytes("?");
  std::jthread responder([&] {
    incoming* m = to.next();
    ASSERT_NE(m, nullptr);
    const std::string back(m->reply_to());
    EXPECT_TRUE(c.send(*c.pair(publish().exchange("amq.direct")), back, "!"));
    EXPECT_EQ(c.send(*c.pair(confirms().exchange("amq.direct")), back, "!").error().server_code(), 312);
    EXPECT_TRUE(settle(m));
  });
  const auto answer = sync_wait(port->request(question, 300ms));
  responder.join();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), rabbitmq::errc::request_timeout);
}

/// Scenario 31: the server closes the channel over a message that is too large: an error of confirms, lost without, and
/// both publishers go on.
TEST(rabbitmq_messages, a_message_over_the_servers_limit_is_an_error_of_confirms) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("large");
  const auto open = c.open(client::temporary(name), to);
  ASSERT_TRUE(open) << open.error().message();
  const std::string body(16UL * 1024 * 1024 + 1, 'x');
  const auto confirming = c.pair(confirms());
  const auto refused = c.send(*confirming, name, body);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), rabbitmq::errc::publish);
  EXPECT_EQ(refused.error().server_code(), 406);
  const auto plain = c.pair(publish());
  EXPECT_TRUE(c.send(*plain, name, body)); // handed over, and lost
  ASSERT_TRUE(c.send(*confirming, name, "confirmed"));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), "confirmed");
  EXPECT_TRUE(settle(m));
  for (bool arrived = false; !arrived;) { // what is behind it goes with the channel
    ASSERT_TRUE(c.send(*plain, name, "plain"));
    m = to.next(1s);
    arrived = m != nullptr && settle(m);
  }
}

/// Scenario 32.
TEST(rabbitmq_messages, a_queue_deleted_while_it_is_consumed_is_reported) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("deleted");
  waiting_sink first;
  {
    const auto made = c.open(queue(name).with_topology(topology::declare), first);
    ASSERT_TRUE(made);
  }
  const auto open = c.open(queue(name), to);
  ASSERT_TRUE(open);
  live_server::shared().delete_queue(name);
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_TRUE(to.told("ended"));
  EXPECT_NE(to.last_told().find("404"), std::string::npos);
}

/// Scenario 37.
TEST(rabbitmq_messages, what_does_not_fit_is_refused_before_any_frame) {
  client c;
  const auto port = c.pair(publish());
  const std::string long_text(256, 'x');
  header_map headers;
  headers.set("correlation-id", long_text);
  EXPECT_EQ(c.send(*port, "k", "x", &headers).error(), millrace::errc::invalid_options);
  EXPECT_EQ(c.send(*port, long_text, "x").error(), millrace::errc::invalid_options);
  waiting_sink to;
  EXPECT_EQ(c.open(queue(long_text), to).error(), millrace::errc::invalid_options);
  EXPECT_EQ(c.open(queue(""), to).error(), millrace::errc::invalid_options);
}

} // namespace
} // namespace millrace::rabbitmq::testing
