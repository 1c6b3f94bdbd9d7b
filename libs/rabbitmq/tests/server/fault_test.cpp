#include "server/collector.hpp"
#include "server/live_server.hpp"
#include "server/tcp_gate.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

broker through(const tcp_gate& gate) {
  return broker("amqp://127.0.0.1:" + std::to_string(gate.port()))
      .backoff(20ms, 200ms)
      .publish_timeout(20s)
      .heartbeat(1s);
}

/// A queue that outlives a connection, and goes by itself.
queue lasting(const std::string& name) {
  return queue(name).argument("x-expires", 60000).with_topology(topology::declare);
}

/// The connection is cut again and again under load: every confirmed message arrives, the subscription comes back by
/// itself.
TEST(rabbitmq_faults, what_was_confirmed_arrives_though_the_connection_is_cut_under_load) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("cut");
  waiting_sink to;
  client c(through(gate));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  const auto open = c.open(lasting(name).prefetch(50), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms().persistent(false)); // no disk to wait for
  constexpr int messages = 2000;
  collector collected(to, messages);
  int refused = 0;
  for (int i = 0; i < messages; ++i) {
    if (i % 500 == 250) gate.cut();
    while (!c.send(*port, name, std::to_string(i)))
      ++refused; // in flight at the cut: sent again
  }
  EXPECT_EQ(collected.wait().size(), static_cast<std::size_t>(messages));
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_TRUE(to.told("resumed"));
  EXPECT_LT(refused, 50);
}

/// Scenario 14: nothing passes any more, and nobody says so: found by the heartbeat.
TEST(rabbitmq_faults, a_silent_network_is_found_by_the_heartbeat_and_survived) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("silent");
  waiting_sink to;
  client c(through(gate).connect_timeout(1s));
  ASSERT_TRUE(c.connected());
  const auto open = c.open(lasting(name), to);
  ASSERT_TRUE(open) << open.error().message();
  gate.hold();
  EXPECT_TRUE(to.told("interrupted", 10s));
  gate.release();
  EXPECT_TRUE(to.told("resumed"));
  const auto port = c.pair(confirms());
  EXPECT_TRUE(c.send(*port, name, "x"));
  EXPECT_TRUE(settle(to.next()));
}

/// Scenario 16: the shutdown of a dead connection ends within its bound.
TEST(rabbitmq_faults, R5_shutdown_against_a_dead_network_is_bounded) {
  tcp_gate gate(live_server::shared().port());
  client c(through(gate).close_timeout(300ms));
  ASSERT_TRUE(c.connected());
  gate.hold();
  const auto before = std::chrono::steady_clock::now();
  const auto closed = c.shutdown();
  ASSERT_TRUE(closed);
  EXPECT_FALSE(closed->handshake());
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

/// Scenario 2 and 1: the server closes the connection (320); publishes fail or wait, none hangs, and the consumer
/// returns.
TEST(rabbitmq_faults, a_connection_that_the_server_forces_shut_is_restored) {
  const std::string name = fresh_name("forced");
  client c(broker(live_server::shared().url()).connection_name(name).backoff(20ms, 200ms));
  waiting_sink to;
  const auto open = c.open(lasting(name), to);
  ASSERT_TRUE(open) << open.error().message();
  live_server::shared().eval_connection(name, "pid",
                                        "rabbit_networking:close_connection(proplists:get_value(pid, Is), \"a test\")");
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_TRUE(to.told("resumed"));
  const auto port = c.pair(confirms());
  EXPECT_TRUE(c.send(*port, name, "x"));
  EXPECT_TRUE(settle(to.next()));
}

/// Scenarios 17 and 18: an old delivery is not acknowledged on the new channel; it comes again.
TEST(rabbitmq_faults, R6_a_delivery_of_a_lost_connection_answers_closed_and_comes_again) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("stale");
  waiting_sink to;
  client c(through(gate));
  const auto open = c.open(lasting(name).prefetch(1), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(confirms());
  ASSERT_TRUE(c.send(*port, name, "x"));
  incoming* old = to.next();
  ASSERT_NE(old, nullptr);
  gate.cut();
  EXPECT_TRUE(to.told("resumed"));
  EXPECT_EQ(old->settle({}).error(), rabbitmq::errc::closed);
  old->release();
  incoming* again = to.next();
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(settle(again));
}

/// Everything that an opening can do: channel, exchange, queue, bindings, delay target, qos, consume.
queue with_everything(const std::string& name) {
  return lasting(name)
      .bind(exchange_spec::topic(name + ".x").auto_delete(), "order.*")
      .delay(delay::waiting_queue(name + ".w"))
      .prefetch(10);
}
constexpr int opening_frames = 7;
/// Protocol header, start-ok, tune-ok, open, and the publish channel.
constexpr int handshake_frames = 5;

/// Ends when `text` came; what else comes was published before.
bool arrives(waiting_sink& to, const std::string& text) {
  while (incoming* m = to.next()) {
    const bool found = as_text(m->payload()) == text;
    (void)settle(m);
    if (found) return true;
  }
  return false;
}

/// R2, L2: the network breaks in front of each request of an opening: the opening ends with an error, and the next one
/// works.
TEST(rabbitmq_faults, R2_L2_the_connection_is_cut_at_every_step_of_an_opening) {
  tcp_gate gate(live_server::shared().port());
  client c(through(gate).heartbeat(60s));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  const auto plain = c.pair(publish());
  const auto confirming = c.pair(confirms());
  ASSERT_FALSE(c.send(*confirming, fresh_name("nowhere"), "opens the channel"));
  for (int step = 0; step < opening_frames; ++step) {
    const std::string name = fresh_name("step");
    waiting_sink to;
    gate.cut_after(step);
    const auto broken = c.open(with_everything(name), to);
    ASSERT_FALSE(broken) << step;
    EXPECT_EQ(broken.error(), millrace::errc::subscribe) << step;
    ASSERT_TRUE(c.send(*plain, name, "waits for the connection")) << step;
    const auto open = c.open(with_everything(name), to);
    ASSERT_TRUE(open) << step << open.error().message();
    ASSERT_TRUE(c.send(*confirming, name, "x")) << step;
    EXPECT_TRUE(arrives(to, "x")) << step;
  }
}

/// The same while a subscription is restored, from the first byte of the new connection on: it comes back in the end,
/// and what was confirmed arrives.
TEST(rabbitmq_faults, R2_a_restored_subscription_survives_a_cut_at_every_step) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("again");
  waiting_sink to;
  client c(through(gate).heartbeat(60s));
  const auto open = c.open(with_everything(name), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto confirming = c.pair(confirms());
  for (int step = 1; step < handshake_frames + opening_frames; ++step) {
    gate.cut_after(step);
    gate.cut();
    const std::string text = std::to_string(step);
    while (!c.send(*confirming, name, text)) {
    } // in flight at the cut
    EXPECT_TRUE(arrives(to, text)) << step;
  }
}

/// Scenario 33: the server holds an exclusive queue for a connection that it does not know to be dead; the client goes
/// on trying.
TEST(rabbitmq_faults, an_exclusive_queue_that_is_still_locked_is_tried_again) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("locked");
  waiting_sink to;
  client c(through(gate).heartbeat(60s));
  const auto open = c.open(client::temporary(name), to);
  ASSERT_TRUE(open) << open.error().message();
  gate.strand();
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_FALSE(to.told("resumed", 500ms)); // 405 RESOURCE_LOCKED, again and again
  gate.bury();
  EXPECT_TRUE(to.told("resumed"));
  const auto confirming = c.pair(confirms());
  ASSERT_TRUE(c.send(*confirming, name, "x"));
  EXPECT_TRUE(arrives(to, "x"));
}

/// Scenario 23: the delayed exchange is deleted after the start. The copy closes the consuming channel (404), so the
/// original is not acknowledged and comes again; the neighbours go on. Scenario 6: the number is used again.
TEST(rabbitmq_faults, a_channel_that_the_server_closes_loses_nothing_and_leaves_the_neighbours_alone) {
  client c(broker(live_server::shared().url()).backoff(20ms, 200ms));
  const std::string name = fresh_name("closed");
  waiting_sink to;
  waiting_sink neighbour;
  waiting_sink unused;
  const auto beside = c.open(client::temporary(name + ".beside"), neighbour);
  auto holder = c.open(client::temporary(name + ".holder")
                           .bind(exchange_spec::direct(name + ".delay").durable(false).auto_delete(), name),
                       unused);
  ASSERT_TRUE(holder) << holder.error().message();
  {
    const auto declared = c.open(lasting(name), unused);
    ASSERT_TRUE(declared);
  }
  const auto open = c.open(queue(name).delay(delay::delayed_exchange(name + ".delay")), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto confirming = c.pair(confirms());
  ASSERT_TRUE(c.send(*confirming, name, "kept"));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  holder->reset(); // its queue goes, and the exchange with its last binding
  const auto gone = c.pair(confirms().exchange(name + ".delay"));
  while (c.send(*gone, name + ".x", "x").error().server_code() != 404) {
  }
  EXPECT_TRUE(settle(m, settlement_kind::retry_after, 10ms)); // handed over
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_TRUE(to.told("ended")); // the delay target is looked up again, and missing: loud, not silent
  EXPECT_NE(to.last_told().find(name + ".delay"), std::string::npos);
  waiting_sink after;
  const auto again = c.open(lasting(name), after);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(arrives(after, "kept"));
  ASSERT_TRUE(c.send(*confirming, name + ".beside", "beside"));
  EXPECT_TRUE(arrives(neighbour, "beside"));
  EXPECT_EQ(neighbour.last_told(), "");
}

/// Scenario 29: the connection breaks while a request waits for its answer: that one ends, and the next is answered.
TEST(rabbitmq_faults, a_request_whose_channel_is_lost_ends_and_the_next_is_answered) {
  tcp_gate gate(live_server::shared().port());
  const std::string name = fresh_name("asked");
  waiting_sink to;
  client responder;
  const auto open = responder.open(client::temporary(name), to);
  const auto answers = responder.pair(publish());
  client c(through(gate).heartbeat(60s));
  ASSERT_TRUE(c.connected());
  const auto port = c.pair(request());
  outgoing question;
  question.destination = name;
  question.payload = as_bytes("?");
  std::jthread cutter([&] {
    (void)settle(to.next());
    gate.cut();
  });
  const auto lost = sync_wait(port->request(question, 20s));
  cutter.join();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error(), rabbitmq::errc::request) << lost.error().message();
  std::jthread answering([&] {
    incoming* m = to.next();
    if (m == nullptr) return;
    header_map headers;
    headers.set("correlation-id", m->headers().get("correlation-id").value_or(""));
    (void)responder.send(*answers, std::string(m->reply_to()), "!", &headers);
    settle(m);
  });
  const auto answered = sync_wait(port->request(question, 20s));
  ASSERT_TRUE(answered) << answered.error().message();
  EXPECT_EQ(answered->payload, "!");
}

/// Scenario 15: publishes and acknowledgements of many threads share a connection that also keeps its heartbeat.
TEST(rabbitmq_faults, many_threads_share_one_connection) {
  client c(broker(live_server::shared().url()).heartbeat(1s));
  const std::string name = fresh_name("threads");
  waiting_sink to;
  const auto open = c.open(client::temporary(name).prefetch(20), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto confirming = c.pair(confirms());
  const auto plain = c.pair(publish());
  constexpr int each = 100;
  std::vector<std::jthread> threads;
  for (const int id : {0, 1, 2, 3}) {
    threads.emplace_back([&, id] {
      for (int i = 0; i < each; ++i)
        EXPECT_TRUE(c.send(id % 2 == 0 ? *confirming : *plain, name, std::to_string(id * each + i)));
    });
  }
  collector one(to, std::size_t{4} * each);
  EXPECT_EQ(one.wait().size(), std::size_t{4} * each);
  EXPECT_EQ(to.last_told(), "");
}

} // namespace
} // namespace millrace::rabbitmq::testing
