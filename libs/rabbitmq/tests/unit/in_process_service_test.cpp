// Services on the in-process server: the rules of the lifecycle, and scenarios of the specification that a user meets.
#include <millrace/rabbitmq.hpp>
#include <millrace/testing.hpp>

#include <gtest/gtest.h>

namespace millrace::rabbitmq {
namespace {

using namespace std::chrono_literals;
using millrace::testing::test_service;

struct order {
  int id = 0;
  std::string item;
  friend bool operator==(const order&, const order&) = default;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

broker assuming() { return broker("amqp://guest:guest@127.0.0.1:5672/shop").prefetch(16); }
broker declaring() { return assuming().declare_topology(true); }

outcome accept_bytes(bytes_view /*body*/, context& /*ctx*/) { return ack(); }
outcome again(bytes_view /*body*/, context& /*ctx*/) { return retry(); }

template <class Policy> task<result<receipt>> send(publisher<Policy> to, std::string destination, std::string text) {
  auto sent = co_await to.text(text).to(destination);
  co_return sent;
}

/// The text of the error that a service's start ends with.
template <class App> std::string why_not(App& app) {
  auto started = test_service::start(app);
  return started ? std::string("it started") : started.error().message();
}

TEST(rabbitmq_in_process, a_handler_consumes_what_the_test_publishes) {
  service app{{.title = "orders"}};
  app.with_broker(declaring()).subscribe(queue("orders"), [](const order&) { return ack(); });
  test_service t(app);
  t.publish("orders", order{1, "cup"});
  t.subscription("orders").called_once().with(order{1, "cup"}).settled(ack());
}

TEST(rabbitmq_in_process, a_reaction_over_several_queues_is_over_when_publish_returns) {
  service app{{.title = "chain"}};
  auto on = app.with_broker(declaring());
  auto out = on.publisher(confirms{});
  on.subscribe(queue("first"), [out](bytes_view body, context&) -> task<outcome> {
    auto sent = co_await out.bytes(body).to("second");
    co_return sent ? ack() : retry();
  });
  on.subscribe(queue("second"), accept_bytes);
  test_service t(app);
  t.publish_text("first", "on");
  t.subscription("second").called_once().with_text("on");
}

/// R2.3: what differs from what the server holds is refused, in the server's words (scenario 5).
TEST(rabbitmq_in_process, R2_3_a_queue_declared_differently_ends_the_start) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(declaring());
  on.subscribe(queue("orders"), accept_bytes);
  on.subscribe(queue("orders").argument("x-message-ttl", 1000), accept_bytes).named("second");
  const std::string why = why_not(app);
  EXPECT_NE(why.find("second"), std::string::npos) << why;
  EXPECT_NE(why.find("406 PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders' in vhost 'shop'"),
            std::string::npos)
      << why;
}

/// R2.6: scenario 4.
TEST(rabbitmq_in_process, R2_6_a_missing_queue_ends_the_start) {
  service app{{.title = "orders"}};
  app.with_broker(assuming()).subscribe(queue("orders"), accept_bytes);
  const std::string why = why_not(app);
  EXPECT_NE(why.find("404 NOT_FOUND - no queue 'orders' in vhost 'shop'"), std::string::npos) << why;
}

/// R2.5: the error names the subscription and the target.
TEST(rabbitmq_in_process, R2_5_a_missing_delay_target_ends_the_start) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(declaring());
  on.subscribe(queue("orders"), accept_bytes);
  on.subscribe(queue("orders").delay(delay::waiting_queue()).with_topology(topology::assume), accept_bytes)
      .named("patient");
  const std::string why = why_not(app);
  EXPECT_NE(why.find("patient"), std::string::npos) << why;
  EXPECT_NE(why.find("orders.retry"), std::string::npos) << why;
}

/// R2.1: half a pair is refused before anything is declared.
TEST(rabbitmq_in_process, R2_1_half_a_redelivery_declaration_ends_the_start) {
  service app{{.title = "orders"}};
  app.with_broker(declaring()).subscribe(quorum_queue("orders"), accept_bytes).max_attempts(3);
  const std::string why = why_not(app);
  EXPECT_NE(why.find("max_attempts without dead_letter"), std::string::npos) << why;
}

/// Scenario 20: the server counts, and buries what came back too often; the letter has a fresh count.
TEST(rabbitmq_in_process, R2_1_a_quorum_queue_buries_after_max_attempts) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(declaring());
  on.subscribe(quorum_queue("dead"), accept_bytes);
  on.subscribe(quorum_queue("orders"), again).max_attempts(3).dead_letter("dead");
  test_service t(app);
  t.publish_text("orders", "poison");
  t.subscription("orders").called(3).attempts(3);
  t.subscription("dead").called_once().with_text("poison").attempts(1);
}

/// Scenario 21: a classic queue has no count; the service's ends the loop.
TEST(rabbitmq_in_process, a_classic_queue_is_capped_by_the_service) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(declaring());
  on.subscribe(queue("dead"), accept_bytes);
  on.subscribe(queue("orders"), again).max_attempts(3).dead_letter("dead");
  test_service t(app);
  t.publish_text("orders", "poison");
  t.subscription("orders").called(3).attempts(3);
  t.subscription("dead").called_once().with_text("poison");
}

/// Scenario 22: the server drops what it cannot route.
TEST(rabbitmq_in_process, a_spent_message_without_its_dead_letter_queue_is_gone) {
  service app{{.title = "orders"}};
  app.with_broker(declaring()).subscribe(quorum_queue("orders"), again).max_attempts(2).dead_letter("nowhere");
  test_service t(app);
  t.publish_text("orders", "poison");
  t.advance(1h);
  t.subscription("orders").called(2);
}

outcome later_once(bytes_view /*body*/, context& ctx) { return ctx.attempt() == 1 ? retry_after(5s) : ack(); }

/// Scenarios 23 and 38: the copy waits at the server, on the virtual clock, and comes back without its expiration.
TEST(rabbitmq_in_process, a_waiting_queue_holds_a_retry_to_the_instant) {
  service app{{.title = "orders"}};
  app.with_broker(declaring()).subscribe(queue("orders").delay(delay::waiting_queue()), [](bytes_view b, context& ctx) {
    EXPECT_FALSE(ctx.headers().contains("amqp-expiration"));
    return later_once(b, ctx);
  });
  test_service t(app);
  t.publish_text("orders", "slow");
  t.advance(5s - 1ms);
  t.subscription("orders").called_once();
  t.advance(1ms);
  t.subscription("orders").called(2).attempts(2).settled(ack());
}

/// Scenario 24: expiry is acted on at the head only.
TEST(rabbitmq_in_process, a_short_delay_waits_behind_a_long_one_in_a_waiting_queue) {
  service app{{.title = "orders"}};
  app.with_broker(declaring())
      .subscribe(queue("orders").delay(delay::waiting_queue()), [](bytes_view body, context& ctx) {
        if (ctx.attempt() > 1) return ack();
        return retry_after(as_text(body) == "long" ? 60s : 1s);
      });
  test_service t(app);
  t.publish_text("orders", "long");
  t.publish_text("orders", "short");
  t.advance(59s);
  t.subscription("orders").called(2);
  t.advance(1s);
  t.subscription("orders").called(4);
}

TEST(rabbitmq_in_process, a_delayed_exchange_releases_each_at_its_time) {
  service app{{.title = "orders"}};
  app.with_broker(declaring())
      .subscribe(queue("orders").delay(delay::delayed_exchange()), [](bytes_view body, context& ctx) {
        if (ctx.attempt() > 1) return ack();
        return retry_after(as_text(body) == "long" ? 60s : 1s);
      });
  test_service t(app);
  t.publish_text("orders", "long");
  t.publish_text("orders", "short");
  t.advance(1s);
  t.subscription("orders").called(3).with_text("short");
  t.advance(59s);
  t.subscription("orders").called(4).with_text("long");
}

/// Scenarios 7 and 8: lost in silence without confirms, an error with them; both go on afterwards.
TEST(rabbitmq_in_process, a_missing_exchange_is_an_error_only_of_confirms) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(declaring());
  on.subscribe(queue("orders"), accept_bytes);
  auto lost = on.publisher(publish{}.exchange("missing"));
  auto told = on.publisher(confirms{}.exchange("missing"));
  auto plain = on.publisher(publish{});
  test_service t(app);
  EXPECT_TRUE(t.drive(send(lost, "orders", "a")));
  const auto refused = t.drive(send(told, "orders", "b"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("404 NOT_FOUND - no exchange 'missing'"), std::string::npos);
  EXPECT_TRUE(t.drive(send(plain, "orders", "c")));
  t.subscription("orders").called_once().with_text("c");
}

/// Scenario 9.
TEST(rabbitmq_in_process, an_unroutable_message_is_an_error_of_confirms) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(declaring());
  auto mandatory = on.publisher(confirms{});
  auto careless = on.publisher(confirms{}.mandatory(false));
  test_service t(app);
  const auto sent = t.drive(send(mandatory, "nowhere", "x"));
  ASSERT_FALSE(sent);
  EXPECT_NE(sent.error().message().find("312 NO_ROUTE"), std::string::npos) << sent.error().message();
  EXPECT_TRUE(t.drive(send(careless, "nowhere", "x")));
}

/// Scenario 10.
TEST(rabbitmq_in_process, a_full_queue_that_rejects_is_an_error_of_confirms) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(declaring());
  const auto full = queue("orders").prefetch(1).argument("x-max-length", 1).argument("x-overflow", "reject-publish");
  on.subscribe(full, [](bytes_view, context& ctx) -> task<outcome> {
    co_await sleep_for(ctx.runtime(), 1h);
    co_return ack();
  });
  auto out = on.publisher(confirms{});
  test_service t(app);
  EXPECT_TRUE(t.drive(send(out, "orders", "handled")));
  EXPECT_TRUE(t.drive(send(out, "orders", "waits")));
  const auto third = t.drive(send(out, "orders", "too much"));
  ASSERT_FALSE(third);
  EXPECT_NE(third.error().message().find("refused"), std::string::npos) << third.error().message();
}

TEST(rabbitmq_in_process, exchanges_route_by_their_bindings) {
  service app{{.title = "events"}};
  auto on = app.with_broker(declaring());
  const auto events = exchange_spec::topic("events");
  on.subscribe(queue("eu").bind(events, "order.*.eu").bind(events, "#.eu"), accept_bytes);
  on.subscribe(queue("all").bind(events, "order.#"), accept_bytes);
  auto out = on.publisher(publish{}.exchange("events"));
  test_service t(app);
  for (const char* key : {"order.new.eu", "order.new.us", "stock.eu", "nothing"})
    EXPECT_TRUE(t.drive(send(out, key, key)));
  t.subscription("eu").called(2).with_text("stock.eu"); // once, though two bindings match
  t.subscription("all").called(2).with_text("order.new.us");
}

TEST(rabbitmq_in_process, a_consistent_hash_keeps_a_key_in_its_queue) {
  service app{{.title = "shards"}};
  auto on = app.with_broker(declaring());
  const auto shards = exchange_spec::consistent_hash("shards");
  on.subscribe(queue("one").bind(shards, "1"), accept_bytes);
  on.subscribe(queue("two").bind(shards, "1"), accept_bytes);
  auto out = on.publisher(publish{}.exchange("shards"));
  test_service t(app);
  for (int round = 0; round < 2; ++round) {
    for (int key = 0; key < 40; ++key)
      EXPECT_TRUE(t.drive(send(out, "key" + std::to_string(key), std::to_string(key))));
  }
  const auto one = t.subscription("one").received_text();
  const auto two = t.subscription("two").received_text();
  EXPECT_EQ(one.size() + two.size(), 80U);
  EXPECT_FALSE(one.empty() || two.empty());
  for (const auto& text : one)
    EXPECT_EQ(std::ranges::count(two, text), 0) << text;
}

/// Two brokers of one service are two connections to one server.
TEST(rabbitmq_in_process, brokers_of_one_address_meet) {
  service app{{.title = "two"}};
  app.with_broker("in", declaring()).subscribe(queue("orders"), accept_bytes);
  auto out = app.with_broker("out", declaring()).publisher(confirms{});
  test_service t(app);
  EXPECT_TRUE(t.drive(send(out, "orders", "across")));
  t.subscription("orders").called_once().with_text("across");
}

/// Scenario 33: only the connection that declared it uses an exclusive queue.
TEST(rabbitmq_in_process, an_exclusive_queue_is_locked_for_other_connections) {
  service app{{.title = "two"}};
  app.with_broker("owner", declaring()).subscribe(queue("mine").durable(false).exclusive(), accept_bytes);
  app.with_broker("other", assuming()).subscribe(queue("mine"), accept_bytes).named("thief");
  const std::string why = why_not(app);
  EXPECT_NE(why.find("thief"), std::string::npos) << why;
  EXPECT_NE(why.find("405 RESOURCE_LOCKED"), std::string::npos) << why;
}

TEST(rabbitmq_in_process, R4_a_request_is_answered_over_direct_reply_to) {
  service app{{.title = "rpc"}};
  auto on = app.with_broker(declaring());
  on.subscribe(queue("quotes"), [](const order& o) { return order{o.id, "answer to " + o.item}; }).reply_to_sender();
  auto ask = on.publisher(request{});
  test_service t(app);
  const auto asked = [](publisher<request> to, const char* where) -> task<result<reply_message>> {
    const order question{7, "cup"};
    auto answer = co_await to.message(question).to(where).request(5s);
    co_return answer;
  };
  const auto answer = t.drive(asked(ask, "quotes"));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->payload, R"({"id":7,"item":"answer to cup"})");
  const auto nobody = t.drive(asked(ask, "nowhere")); // scenario 28
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error(), millrace::errc::publish);
}

/// Scenario 35: a prefetch below the batch size ends batches by their wait.
TEST(rabbitmq_in_process, a_prefetch_below_the_batch_size_does_not_hang) {
  service app{{.title = "orders"}};
  app.with_broker(declaring()).subscribe_batches(queue("orders").prefetch(2), 5, [](std::span<const order>) {
    return ack();
  });
  test_service t(app);
  for (int i = 0; i < 4; ++i)
    t.publish("orders", order{i, "cup"});
  t.advance(1s);
  EXPECT_EQ(t.subscription("orders").batch_sizes(), (std::vector<std::size_t>{2, 2}));
}

TEST(rabbitmq_in_process, a_stream_is_read_from_its_start_and_passes_by_what_is_dropped) {
  service app{{.title = "log"}};
  auto on = app.with_broker(declaring());
  on.subscribe(stream_queue("log").prefetch(1), [](bytes_view, context&) { return drop(); }).named("drops");
  on.subscribe(stream_queue("log").from("first"), accept_bytes).named("reads");
  test_service t(app);
  for (const char* text : {"a", "b", "c"})
    t.publish_text("log", text);
  t.subscription("drops").called(3);
  t.subscription("reads").called(3).with_text("c");
  t.assert_running();
}

/// R5, R6.
TEST(rabbitmq_in_process, R6_a_publisher_answers_closed_after_the_shutdown) {
  service app{{.title = "orders"}};
  auto on = app.with_broker(declaring());
  on.subscribe(queue("orders"), accept_bytes);
  auto out = on.publisher(confirms{});
  test_service t(app);
  EXPECT_TRUE(t.shutdown());
  const auto sent = t.drive(send(out, "orders", "late"));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), millrace::errc::closed);
}

/// R5: in process too.
TEST(rabbitmq_in_process, R5_the_shutdown_is_a_handshake) {
  millrace::testing::virtual_runtime rt;
  auto connected = rt.drive(declaring().connect_in_process(rt));
  ASSERT_TRUE(connected);
  const auto closed = rt.drive(std::move(*connected).shutdown());
  ASSERT_TRUE(closed);
  EXPECT_TRUE(closed->handshake());
}

TEST(rabbitmq_in_process, a_bad_address_is_refused_as_connect_refuses_it) {
  millrace::testing::virtual_runtime rt;
  const auto connected = rt.drive(broker("http://user:secret@host").connect_in_process(rt));
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error(), millrace::errc::connect);
  EXPECT_EQ(connected.error().message().find("secret"), std::string::npos);
}

} // namespace
} // namespace millrace::rabbitmq
