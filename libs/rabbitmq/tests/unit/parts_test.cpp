#include "protocol/uri.hpp"
#include "session/backoff.hpp"
#include "session/confirm_ledger.hpp"

#include <millrace/rabbitmq.hpp>

#include <gtest/gtest.h>

namespace millrace::rabbitmq::detail {
namespace {

using namespace std::chrono_literals;

TEST(rabbitmq_uri, parts_are_decoded_and_defaults_filled_in) {
  const auto full = parse_uri("amqps://us%40er:p%2Fw@[::1]:5673,two/%2Fvh?heartbeat=10&connection_timeout=500");
  ASSERT_TRUE(full) << full.error().message();
  EXPECT_TRUE(full->tls);
  EXPECT_EQ(full->user, "us@er");
  EXPECT_EQ(full->password, "p/w");
  EXPECT_EQ(full->vhost, "/vh");
  ASSERT_EQ(full->hosts.size(), 2U);
  EXPECT_EQ(full->hosts[0].text(), "[::1]:5673");
  EXPECT_EQ(full->hosts[1].text(), "two:5671");
  EXPECT_EQ(full->heartbeat, 10s);
  EXPECT_EQ(full->connect_timeout, 500ms);
  const auto least = parse_uri("amqp://");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->hosts[0].text(), "localhost:5672");
  EXPECT_EQ(least->user, "guest");
  EXPECT_EQ(least->vhost, "/");
}

TEST(rabbitmq_uri, what_does_not_parse_is_told_without_the_password) {
  for (const char* uri : {"", "http://secret@h", "amqp://u:secret@h:0", "amqp://u:secret@h:x", "amqp://u:secret%zz@h",
                          "amqp://u:secret@h/a/b", "amqp://u:secret@[::1", "amqp://u:secret@h/?heartbeat=x",
                          "amqp://u:secret@h/?what=1"}) {
    const auto parsed = parse_uri(uri);
    ASSERT_FALSE(parsed) << uri;
    EXPECT_EQ(parsed.error(), millrace::errc::connect);
    EXPECT_EQ(parsed.error().message().find("secret"), std::string::npos) << uri;
    EXPECT_EQ(describe_uri(uri).find("secret"), std::string::npos);
  }
  EXPECT_EQ(describe_uri("amqp://u:secret@h/vh?heartbeat=1"), "amqp://h:5672/vh");
}

TEST(rabbitmq_confirm_ledger, tags_end_in_any_order_and_the_window_moves_behind_the_oldest) {
  confirm_ledger ledger;
  ledger.limit(3);
  std::vector<std::unique_ptr<publish_operation>> ops;
  for (int i = 0; i < 4; ++i)
    ops.push_back(std::make_unique<publish_operation>(nullptr));
  for (int i = 0; i < 3; ++i)
    ledger.add(*ops[static_cast<std::size_t>(i)], "k" + std::to_string(i), time_point(1s));
  EXPECT_TRUE(ledger.full());
  std::vector<settled_publish> ended;
  EXPECT_TRUE(ledger.confirm(2, false, true, ended));
  EXPECT_TRUE(ledger.full()); // the first still holds the window
  ledger.returned("k2", 312);
  EXPECT_TRUE(ledger.confirm(3, true, true, ended));
  ASSERT_EQ(ended.size(), 3U);
  EXPECT_EQ(ended[2].end, settled_publish::how::returned);
  EXPECT_EQ(ended[2].routing_key, "k2");
  EXPECT_TRUE(ledger.empty());
  EXPECT_FALSE(ledger.confirm(4, false, true, ended)); // never sent
  ledger.add(*ops[3], "k3", time_point(5s));
  ASSERT_NE(ledger.next_due(), nullptr);
  ledger.expire(time_point(6s), ended);
  EXPECT_EQ(ended.back().end, settled_publish::how::expired);
  EXPECT_FALSE(ledger.empty()); // its tag is still the server's
  EXPECT_TRUE(ledger.confirm(4, false, true, ended));
  EXPECT_EQ(ended.size(), 4U); // told once
  EXPECT_TRUE(ledger.empty());
}

TEST(rabbitmq_confirm_ledger, a_lost_channel_ends_everything_and_tags_start_again) {
  confirm_ledger ledger;
  publish_operation one(nullptr);
  std::vector<settled_publish> ended;
  for (std::uint64_t tag = 1; tag <= 100; ++tag) {
    ledger.add(one, "k", time_point(1s));
    EXPECT_TRUE(ledger.confirm(tag, false, true, ended));
  }
  ledger.add(one, "k", time_point(1s));
  ledger.lose(ended);
  EXPECT_EQ(ended.back().end, settled_publish::how::lost);
  ledger.add(one, "k", time_point(1s));
  EXPECT_TRUE(ledger.confirm(1, false, false, ended));
  EXPECT_EQ(ended.back().end, settled_publish::how::refused);
}

TEST(rabbitmq_backoff, pauses_double_up_to_the_bound_with_jitter) {
  backoff pauses(100ms, 1s, 42);
  for (const duration most : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    const duration pause = pauses.next();
    EXPECT_LE(pause, most);
    EXPECT_GE(pause, most / 2);
  }
  pauses.reset();
  EXPECT_LE(pauses.next(), 100ms);
}

TEST(rabbitmq_queue, contradictions_are_refused_before_any_io) {
  EXPECT_TRUE(queue("q").check());
  EXPECT_FALSE(queue("").check());
  EXPECT_FALSE(queue(std::string(256, 'q')).check());
  EXPECT_FALSE(queue("q").prefetch(0).check());
  EXPECT_FALSE(queue("q").bind(exchange_spec::direct(""), "k").check());
  EXPECT_FALSE(queue("q").argument(std::string(300, 'a'), 1).check());
  EXPECT_FALSE(quorum_queue("q").argument("x-max-priority", 5).check());
  EXPECT_EQ(queue("q").retries().address, "q");
  EXPECT_EQ(quorum_queue("q").retries().how, retry_path::kind::broker_moves);
}

/// A router's prefix goes in front of every name that a source uses, and of nothing else.
TEST(rabbitmq_queue, a_prefix_moves_every_name) {
  queue q = queue("orders")
                .bind(exchange_spec::topic("events"), "order.*")
                .bind(exchange_spec::fanout("amq.fanout"))
                .delay(delay::waiting_queue("later"))
                .dead_letter_exchange("")
                .dead_letter_routing_key("dead");
  q.add_prefix("eu.");
  EXPECT_EQ(q.name(), "eu.orders");
  EXPECT_EQ(q.retries().address, "eu.orders");
  EXPECT_EQ(q.spec().bindings[0].exchange.name(), "eu.events");
  EXPECT_EQ(q.spec().bindings[0].key, "order.*");
  EXPECT_EQ(q.spec().bindings[1].exchange.name(), "amq.fanout");
  EXPECT_EQ(q.spec().delayed->target_for(q.name()), "eu.later");
  const auto argument = [](const auto& of, const char* name) {
    return std::get<std::string>(*of.spec().args.find(name));
  };
  EXPECT_EQ(argument(q, "x-dead-letter-exchange"), "");
  EXPECT_EQ(argument(q, "x-dead-letter-routing-key"), "eu.dead");
  quorum_queue named =
      quorum_queue("jobs").delay(delay::waiting_queue()).dead_letter_exchange("graves").dead_letter_routing_key("key");
  named.add_prefix("eu.");
  EXPECT_EQ(named.spec().delayed->target_for(named.name()), "eu.jobs.retry");
  EXPECT_EQ(argument(named, "x-dead-letter-exchange"), "eu.graves");
  EXPECT_EQ(argument(named, "x-dead-letter-routing-key"), "key");
}

TEST(rabbitmq_queue, batches_wait_as_long_as_the_source_says) {
  EXPECT_EQ(queue("q").batch_wait(), 50ms);
  EXPECT_EQ(quorum_queue("q").batch_wait(5ms).batch_wait(), 5ms);
}

} // namespace
} // namespace millrace::rabbitmq::detail
