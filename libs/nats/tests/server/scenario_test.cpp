// Scenarios of the specification's list of what could be lost or go wrong that no other file has.
#include "admin.hpp"
#include "client.hpp"
#include "nats_server.hpp"
#include "poll.hpp"

#include <millrace/log.hpp>
#include <millrace/millrace.hpp>

#include <atomic>
#include <future>

namespace millrace::nats::test {
namespace {

connect_options quick() {
  return connect_options().reconnect_wait(20ms, 200ms).api_timeout(2s).drain_timeout(2s).ping_interval(500ms);
}

class nats_scenario : public ::testing::Test {
 protected:
  pool_runtime rt_{2};
};

/// On a server of its own, with the stream S over s.>.
class nats_stream_scenario : public nats_scenario {
 protected:
  void SetUp() override { admin(server_.url()).add_stream("S", {"s.>"}); }
  void store(const std::string& payload) { admin(server_.url()).store("s.a", payload); }
  [[nodiscard]] static jetstream source() { return jetstream("S", "s.a").durable("d").idle_heartbeat(200ms); }
  [[nodiscard]] std::int64_t unacknowledged() { return admin(server_.url()).consumer("S", "d").unacknowledged; }

  nats_server server_;
  connected_broker broker_ = connect(rt_, server_.url(), quick());
};

} // namespace

// nats 12.4: a token that the server does not take any more, in the middle of a session.
TEST_F(nats_scenario, a_token_that_is_revoked_in_session_ends_the_subscription) {
  nats_server guarded("authorization { token: one }");
  connected_broker b = connect(rt_, guarded.url(), quick().token("one"));
  collecting_sink sink;
  const auto s = open(b, subject("x"), sink);
  guarded.configure("authorization { token: two }");
  guarded.reload();
  ASSERT_TRUE(sink.wait_for_event("ended"));
  EXPECT_FALSE(sink.last_error()->message().contains("one")) << sink.last_error()->message();
  const auto port = value_of(b.pair(publish{}));
  EXPECT_EQ(send(rt_, *port, "x", "x").error(), make_error_code(errc::closed));
  run(s->stop());
}

// nats 12.20: an acknowledgement that comes after the redelivery is no error, and what was redelivered is counted.
TEST_F(nats_stream_scenario, a_handler_slower_than_ack_wait_sees_its_message_twice) {
  collecting_sink sink([](const seen& m, incoming&) -> std::optional<settlement> {
    if (m.count == 1) return std::nullopt;
    return settlement{};
  });
  const auto s = open(broker_, source().ack_wait(300ms), sink, 2);
  store("slow");
  ASSERT_TRUE(sink.wait_for(2));
  EXPECT_EQ(sink.messages()[1].count, 2U);
  ASSERT_EQ(sink.kept().size(), 1U);
  EXPECT_TRUE(sink.kept().front()->settle({}));
  sink.release_kept();
  EXPECT_FALSE(sink.wait_for(3, 900ms));
  run(s->stop());
  EXPECT_EQ(unacknowledged(), 0);
}

// nats 12.22: nothing caps the deliveries but `max_attempts`.
TEST_F(nats_stream_scenario, a_message_without_a_cap_comes_as_often_as_it_is_retried) {
  collecting_sink sink([](const seen& m, incoming&) -> std::optional<settlement> {
    return settlement{m.count < 25 ? settlement_kind::retry : settlement_kind::ack, {}};
  });
  const auto s = open(broker_, source(), sink);
  store("poison");
  ASSERT_TRUE(sink.wait_for(25));
  run(s->stop());
  EXPECT_EQ(sink.messages().back().count, 25U);
  EXPECT_EQ(unacknowledged(), 0);
}

// nats 12.23
TEST_F(nats_stream_scenario, a_delay_of_nothing_or_less_than_a_millisecond_is_at_once) {
  collecting_sink sink([](const seen& m, incoming&) -> std::optional<settlement> {
    if (m.count == 1) return settlement{settlement_kind::retry_after, {}};
    if (m.count == 2) return settlement{settlement_kind::retry_after, 1us};
    return settlement{};
  });
  const auto s = open(broker_, source(), sink);
  store("x");
  EXPECT_TRUE(sink.wait_for(3));
  run(s->stop());
}

// nats 12.23: the delay counts, not `ack_wait`.
TEST_F(nats_stream_scenario, a_delay_longer_than_ack_wait_holds) {
  std::vector<std::chrono::steady_clock::time_point> at;
  collecting_sink sink([&at](const seen& m, incoming&) -> std::optional<settlement> {
    at.push_back(std::chrono::steady_clock::now());
    if (m.count == 1) return settlement{settlement_kind::retry_after, 1500ms};
    return settlement{};
  });
  const auto s = open(broker_, source().ack_wait(300ms), sink);
  store("x");
  ASSERT_TRUE(sink.wait_for(2));
  run(s->stop());
  EXPECT_GE(at[1] - at[0], 1490ms);
}

// nats 12.23: the server is killed while it holds the message back.
TEST_F(nats_stream_scenario, a_delayed_message_outlives_a_restart_of_the_server) {
  collecting_sink sink([](const seen& m, incoming&) -> std::optional<settlement> {
    if (m.count == 1) return settlement{settlement_kind::retry_after, 1s};
    return settlement{};
  });
  const auto s = open(broker_, source().ack_wait(1s), sink);
  store("x");
  ASSERT_TRUE(sink.wait_for(1));
  server_.restart();
  ASSERT_TRUE(sink.wait_for(2, 20s));
  run(s->stop());
  EXPECT_EQ(sink.messages()[1].payload, "x");
}

// nats 12.31: the limit is that of the server that one is connected to now.
TEST_F(nats_scenario, a_smaller_payload_limit_holds_after_a_reconnect) {
  nats_server server;
  connected_broker b = connect(rt_, server.url(), quick());
  collecting_sink sink;
  const auto s = open(b, subject("x"), sink);
  const auto port = value_of(b.pair(publish{}));
  const std::string payload(2000, 'x');
  ASSERT_TRUE(send(rt_, *port, "x", payload));
  ASSERT_TRUE(sink.wait_for(1));
  server.kill();
  server.configure("max_payload: 1000");
  server.start();
  ASSERT_TRUE(sink.wait_for_event("resumed"));
  EXPECT_FALSE(send(rt_, *port, "x", payload));
  ASSERT_TRUE(send(rt_, *port, "x", "small"));
  ASSERT_TRUE(sink.wait_for(2));
  run(s->stop());
  EXPECT_EQ(value_of(run(std::move(b).shutdown())).connects, 2U); // refused here: the server had nothing to close
}

// nats 12.35: the server hands a message to core subscribers before the stream judges it.
TEST_F(nats_stream_scenario, core_subscribers_see_what_the_stream_refuses) {
  collecting_sink sink;
  const auto s = open(broker_, subject("s.a"), sink);
  const auto port = value_of(broker_.pair(jetstream_publish{}));
  jetstream_publish::options options;
  options.expect_last_sequence(7);
  const auto refused = send(rt_, *port, "s.a", "refused", nullptr, &options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::jetstream));
  EXPECT_EQ(admin(server_.url()).stored("S"), 0U);
  ASSERT_TRUE(sink.wait_for(1));
  EXPECT_EQ(sink.messages()[0].payload, "refused");
  run(s->stop());
}

namespace {

/// What was logged of connections that were lost.
class interruptions {
 public:
  interruptions() {
    set_log_sink([this](log_level, std::string_view line) { count_ += line.contains("interrupted") ? 1 : 0; });
  }
  ~interruptions() { set_log_sink({}); }
  interruptions(const interruptions&) = delete;
  interruptions& operator=(const interruptions&) = delete;
  [[nodiscard]] int count() const noexcept { return count_; }

 private:
  std::atomic<int> count_ = 0;
};

/// A handler that holds its thread until it is told.
struct held_up {
  std::promise<void> entered;
  std::promise<void> release;
  std::atomic<int> others = 0;
};

constexpr int others_sent = 500;
constexpr auto ping = "ping_interval: \"200ms\"\nping_max: 2";

class nats_blocked_handler : public ::testing::TestWithParam<unsigned> {};

} // namespace

// The server gives a client up that misses two pings, 200 ms apart. A handler that holds its thread for ten times as
// long costs neither the connection nor another subscription its messages; with a second thread, not even their time.
TEST_P(nats_blocked_handler, costs_no_heartbeat_and_no_other_subscription_its_messages) {
  nats_server server(ping);
  const interruptions lost;
  const auto held = std::make_shared<held_up>();
  service app{service_info{"blocked"}};
  app.threads(GetParam());
  broker configured(server.url());
  configured.with_options(quick().ping_interval(200ms));
  auto on = app.with_broker(std::move(configured));
  on.subscribe("slow", [held](bytes_view) {
    held->entered.set_value();
    held->release.get_future().wait();
  });
  on.subscribe("other", [held](bytes_view) { ++held->others; });
  auto started = app.start();
  ASSERT_TRUE(started) << started.error().message();
  admin outside(server.url());
  outside.publish("slow", "x");
  held->entered.get_future().wait();
  pool_runtime clock(1);
  for (int i = 0; i < others_sent; ++i) {
    outside.publish("other", "x");
    if (i % 10 == 0) run([](runtime& rt) -> task<void> { co_await sleep_for(rt, 90ms); }(clock));
  }
  outside.flush();
  const auto all = [&] { return held->others == others_sent; };
  if (GetParam() > 1) {
    EXPECT_TRUE(poll(all, 10s)) << held->others;
  }
  held->release.set_value();
  EXPECT_TRUE(poll(all, 10s)) << held->others;
  EXPECT_EQ(lost.count(), 0);
  EXPECT_TRUE(started->shutdown());
}

INSTANTIATE_TEST_SUITE_P(threads, nats_blocked_handler, ::testing::Values(1U, 2U),
                         [](const auto& info) { return std::to_string(info.param); });

} // namespace millrace::nats::test
