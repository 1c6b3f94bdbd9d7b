#include "admin.hpp"
#include "client.hpp"
#include "nats_server.hpp"
#include "poll.hpp"

#include <map>
#include <set>

namespace millrace::nats::test {
namespace {

connect_options quick() {
  return connect_options().reconnect_wait(20ms, 200ms).api_timeout(1s).drain_timeout(2s).ping_interval(500ms);
}

class nats_fault : public ::testing::Test {
 protected:
  nats_server server_;
  pool_runtime rt_{2};
};

// nats 12.28, 12.46: reconnect and resubscribe, the queue group included; health says so; the counters are kept.
TEST_F(nats_fault, N5_core_subscription_is_back_after_a_restart) {
  connected_broker b = connect(rt_, server_.url(), quick());
  collecting_sink sink;
  const auto s = open(b, subject("back").queue_group("g"), sink);
  const auto port = value_of(b.pair(publish{}));
  ASSERT_TRUE(send(rt_, *port, "back", "before"));
  ASSERT_TRUE(sink.wait_for(1));
  server_.kill();
  ASSERT_TRUE(sink.wait_for_event("interrupted"));
  server_.start();
  ASSERT_TRUE(sink.wait_for_event("resumed"));
  ASSERT_TRUE(send(rt_, *port, "back", "after"));
  ASSERT_TRUE(sink.wait_for(2));
  run(s->stop());
  const auto closed = value_of(run(std::move(b).shutdown()));
  EXPECT_EQ(closed.connects, 2U);
  EXPECT_GE(closed.messages_received, 2U);
}

// nats 12.32: publishes are buffered while disconnected; more than the buffer is an error.
TEST_F(nats_fault, publish_while_disconnected_is_buffered_and_its_overflow_is_an_error) {
  connected_broker b = connect(rt_, server_.url(), quick().reconnect_buffer(10000));
  collecting_sink sink;
  const auto s = open(b, subject("buffered"), sink);
  const auto port = value_of(b.pair(publish{}));
  server_.kill();
  ASSERT_TRUE(sink.wait_for_event("interrupted"));
  const std::string payload(1000, 'x');
  std::size_t accepted = 0;
  result<receipt> last = receipt{};
  while (accepted < 100 && (last = send(rt_, *port, "buffered", payload)))
    ++accepted;
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error(), make_error_code(errc::publish));
  EXPECT_LT(accepted, 20U);
  server_.start();
  EXPECT_TRUE(sink.wait_for(accepted));
  run(s->stop());
}

// nats 12.42: an error, not a clean close; and no long wait.
TEST_F(nats_fault, N5_shutdown_while_disconnected_is_an_error) {
  connected_broker b = connect(rt_, server_.url(), quick());
  collecting_sink sink;
  const auto s = open(b, subject("x"), sink);
  server_.kill();
  ASSERT_TRUE(sink.wait_for_event("interrupted"));
  const auto begin = std::chrono::steady_clock::now();
  run(s->stop());
  const auto closed = run(std::move(b).shutdown());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error(), make_error_code(errc::shutdown));
}

// nats 12.43: a server that does not answer: the drain is bounded and reported.
TEST_F(nats_fault, N5_shutdown_of_a_stopped_server_is_bounded_and_reported) {
  connected_broker b = connect(rt_, server_.url(), connect_options().drain_timeout(500ms));
  const auto port = value_of(b.pair(publish{}));
  server_.suspend();
  ASSERT_TRUE(send(rt_, *port, "x", "x"));
  const auto begin = std::chrono::steady_clock::now();
  const auto closed = run(std::move(b).shutdown());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error(), millrace::errc::shutdown);
}

// nats 12.5: the server dies between SUB and PONG.
TEST_F(nats_fault, N3_open_on_a_stopped_server_is_bounded) {
  connected_broker b = connect(rt_, server_.url(), connect_options().api_timeout(300ms).drain_timeout(300ms));
  server_.suspend();
  collecting_sink sink;
  open_options options;
  const auto begin = std::chrono::steady_clock::now();
  const auto opened = run(b.open(subject("x"), sink, options));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), make_error_code(errc::subscribe));
  EXPECT_FALSE(run(b.open(jetstream("S", "x"), sink, options)));
}

// A publisher is not blocked for good by a server that reads nothing: the write times out and the connection is given
// up.
TEST_F(nats_fault, publish_to_a_stopped_server_is_bounded) {
  connected_broker b = connect(rt_, server_.url(), quick().write_timeout(500ms).reconnect_buffer(1000));
  const auto port = value_of(b.pair(publish{}));
  server_.suspend();
  const std::string payload(100000, 'x');
  bool refused = false;
  for (int i = 0; i < 1000 && !refused; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    refused = !send(rt_, *port, "x", payload);
    ASSERT_LT(std::chrono::steady_clock::now() - begin, 3s);
  }
  EXPECT_TRUE(refused);
}

// nats 12.27: a stalled connection is noticed by its pings.
TEST_F(nats_fault, stopped_server_is_noticed_by_pings) {
  connected_broker b = connect(rt_, server_.url(), quick().ping_interval(100ms));
  collecting_sink sink;
  const auto s = open(b, subject("x"), sink);
  server_.suspend();
  ASSERT_TRUE(sink.wait_for_event("interrupted"));
  server_.resume();
  ASSERT_TRUE(sink.wait_for_event("resumed"));
  run(s->stop());
}

// nats 12.4: credentials that stop working close the connection for good, and the service sees it.
TEST_F(nats_fault, refused_reconnect_ends_the_subscription) {
  nats_server guarded("authorization { users = [ {user: app, password: one} ] }");
  connected_broker b = connect(rt_, guarded.url(), quick().user("app", "one"));
  collecting_sink sink;
  const auto s = open(b, subject("x"), sink);
  guarded.kill();
  guarded.configure("authorization { users = [ {user: app, password: two} ] }");
  guarded.start();
  ASSERT_TRUE(sink.wait_for_event("ended"));
  const auto port = value_of(b.pair(publish{}));
  EXPECT_EQ(send(rt_, *port, "x", "x").error(), make_error_code(errc::closed));
  run(s->stop());
}

TEST_F(nats_fault, used_up_reconnects_end_the_subscription) {
  connected_broker b = connect(rt_, server_.url(), quick().max_reconnects(2));
  collecting_sink sink;
  const auto s = open(b, subject("x"), sink);
  server_.kill();
  ASSERT_TRUE(sink.wait_for_event("ended"));
  run(s->stop());
}

task<result<reply_message>> ask(publish_port& port, std::string subject, duration timeout) {
  outgoing m;
  m.destination = subject;
  result<reply_message> answer = co_await port.request(m, timeout);
  co_return answer;
}

// nats 12.40: a request that is lost with its connection ends at its deadline.
TEST_F(nats_fault, request_over_a_restart_ends_at_its_deadline) {
  connected_broker b = connect(rt_, server_.url(), quick());
  collecting_sink deaf;
  const auto s = open(b, subject("deaf"), deaf);
  const auto port = value_of(b.pair(publish{}));
  std::thread fault([&] {
    deaf.wait_for(1);
    server_.restart();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = run(ask(*port, "deaf", 1s));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 990ms);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), millrace::errc::timeout);
  fault.join();
  run(s->stop());
}

// nats 12.46
TEST_F(nats_fault, N5_lame_duck_server_is_left_for_another) {
  // Two servers of one cluster, so that the second is known.
  nats_server other;
  connected_broker b = connect(rt_, server_.url() + "," + other.url(), quick());
  const bool first = b.server().address == server_.host_port();
  nats_server& leaving = first ? server_ : other;
  collecting_sink sink;
  const auto s = open(b, subject("duck"), sink);
  leaving.lame_duck();
  ASSERT_TRUE(sink.wait_for_event("resumed", 1, 30s));
  const auto port = value_of(b.pair(publish{}));
  ASSERT_TRUE(send(rt_, *port, "duck", "after"));
  ASSERT_TRUE(sink.wait_for(1));
  run(s->stop());
  EXPECT_GE(value_of(run(std::move(b).shutdown())).connects, 2U);
}

class nats_jetstream_fault : public nats_fault {
 protected:
  void SetUp() override { admin(server_.url()).add_stream("S", {"s.>"}); }
  void store(int from, int to) {
    admin a(server_.url());
    for (int i = from; i < to; ++i)
      a.store("s.a", std::to_string(i));
  }
  [[nodiscard]] static jetstream source() { return jetstream("S", "s.a").idle_heartbeat(200ms).ack_wait(2s); }
};

// nats 12.13, 12.21: killed and started again under load: nothing that was stored is lost, nothing that was settled is
// handled again, and in the end the server has every acknowledgement.
TEST_F(nats_jetstream_fault, N4_restart_mid_consume_loses_and_repeats_nothing) {
  constexpr int total = 3000;
  store(0, total);
  connected_broker b = connect(rt_, server_.url(), quick());
  collecting_sink sink([&](const seen&, incoming&) {
    std::this_thread::sleep_for(200us); // lint: allow sleep
    return settlement{};
  });
  const auto s = open(b, source().durable("d"), sink, 8);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(sink.wait_for(static_cast<std::size_t>(300 * (round + 1))));
    server_.restart();
    ASSERT_TRUE(sink.wait_for_event("resumed", static_cast<std::size_t>(round) + 1));
  }
  admin a(server_.url());
  const auto done = [&] {
    const auto state = a.consumer("S", "d");
    return sink.size() >= total && state.unacknowledged == 0 && state.pending == 0;
  };
  EXPECT_TRUE(poll(done, 30s));
  std::map<std::string, int> times;
  for (const seen& m : sink.messages())
    ++times[m.payload];
  EXPECT_EQ(times.size(), static_cast<std::size_t>(total));
  for (const auto& [payload, n] : times)
    EXPECT_EQ(n, 1) << payload;
  run(s->stop());
}

// nats 12.14: a server that stops answering: noticed without any help of the connection, and pulled again after.
TEST_F(nats_jetstream_fault, missed_heartbeats_are_noticed_and_the_consumer_is_pulled_again) {
  connected_broker b = connect(rt_, server_.url(), quick().ping_interval(60s).api_timeout(500ms));
  collecting_sink sink;
  const auto s = open(b, source().durable("d"), sink);
  server_.suspend();
  ASSERT_TRUE(sink.wait_for_event("interrupted"));
  server_.resume();
  ASSERT_TRUE(sink.wait_for_event("resumed"));
  store(0, 10);
  ASSERT_TRUE(sink.wait_for(10));
  run(s->stop());
}

// nats 12.13: a memory stream is gone with its server: an error, not silence.
TEST_F(nats_jetstream_fault, memory_stream_that_is_gone_ends_the_subscription) {
  admin(server_.url()).add_stream("M", {"m"}, true);
  connected_broker b = connect(rt_, server_.url(), quick());
  collecting_sink sink;
  const auto s = open(b, jetstream("M", "m").durable("d").idle_heartbeat(200ms), sink);
  server_.restart();
  ASSERT_TRUE(sink.wait_for_event("ended"));
  EXPECT_EQ(*sink.last_error(), make_error_code(errc::jetstream));
  run(s->stop());
}

// nats 12.16: an ephemeral consumer that is lost in an outage is created again behind what was settled.
TEST_F(nats_jetstream_fault, lost_ephemeral_goes_on_behind_what_was_settled) {
  store(0, 20);
  connected_broker b = connect(rt_, server_.url(), quick());
  std::atomic<bool> hold = true;
  collecting_sink sink([&](const seen& m, incoming&) -> std::optional<settlement> {
    // 3 and 5 are still being handled when the consumer goes; the rest is settled.
    if (hold && (m.payload == "3" || m.payload == "5")) return std::nullopt;
    return settlement{};
  });
  const auto s = open(b, source().ack_wait(60s).pull_window(8), sink);
  ASSERT_TRUE(sink.wait_for(20));
  hold = false;
  const auto names = admin(server_.url()).consumers("S");
  ASSERT_EQ(names.size(), 1U);
  server_.kill();
  ASSERT_TRUE(sink.wait_for_event("interrupted"));
  // An ephemeral is not in the store after a restart in which nobody reads it; remove it to be sure.
  std::filesystem::remove_all(server_.directory() / "js" / "jetstream" / "$G" / "streams" / "S" / "obs");
  server_.start();
  ASSERT_TRUE(sink.wait_for_event("resumed"));
  store(20, 25);
  ASSERT_TRUE(sink.wait_for(27));
  EXPECT_FALSE(sink.wait_for(28, 500ms));
  std::map<std::string, int> times;
  for (const seen& m : sink.messages())
    ++times[m.payload];
  EXPECT_EQ(times.size(), 25U);
  for (const auto& [payload, n] : times)
    EXPECT_EQ(n, payload == "3" || payload == "5" ? 2 : 1) << payload;
  for (incoming* held : sink.kept())
    EXPECT_EQ(held->settle(settlement{}).error(), millrace::errc::closed);
  sink.release_kept();
  run(s->stop());
}

// A publish acknowledgement that is lost is an error by its deadline (nats 12.34), and a repeat with the id is safe.
TEST_F(nats_jetstream_fault, lost_publish_acknowledgement_is_an_error_by_its_deadline) {
  connected_broker b = connect(rt_, server_.url(), quick().api_timeout(500ms));
  const auto port = value_of(b.pair(jetstream_publish{}));
  jetstream_publish::options id;
  id.message_id("once");
  ASSERT_TRUE(send(rt_, *port, "s.a", "x"));
  server_.suspend();
  const auto lost = send(rt_, *port, "s.a", "once", nullptr, &id);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error(), make_error_code(errc::jetstream));
  server_.resume();
  result<receipt> again = send(rt_, *port, "s.a", "once", nullptr, &id);
  for (int i = 0; i < 20 && !again; ++i)
    again = send(rt_, *port, "s.a", "once", nullptr, &id);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(admin(server_.url()).stored("S"), 2U);
}

} // namespace
} // namespace millrace::nats::test
