#include "admin.hpp"
#include "client.hpp"
#include "nats_server.hpp"
#include "poll.hpp"

#include <set>

namespace millrace::nats::test {
namespace {

/// One server for the suite; each test uses subjects of its own.
class nats_core : public ::testing::Test {
 protected:
  static nats_server& server() {
    static nats_server one;
    return one;
  }
  pool_runtime rt_{2};
  connected_broker broker_ = connect(rt_, server().url());
  connected_broker other_ = connect(rt_, server().url());
  std::shared_ptr<publish_port> port_ = value_of(other_.pair(publish{}));
};

// N3: once the subscription is open, a publisher on another connection cannot slip into the gap.
TEST_F(nats_core, N3_subscription_is_registered_when_it_is_open) {
  for (int i = 0; i < 50; ++i) {
    collecting_sink sink;
    const auto subscription = open(broker_, subject("n3.orders"), sink);
    ASSERT_TRUE(send(rt_, *port_, "n3.orders", "first"));
    ASSERT_TRUE(sink.wait_for(1));
    run(subscription->stop());
  }
}

// N1: a comma-separated list; the first that answers is used. nats 11: the announced address.
TEST_F(nats_core, N1_list_of_addresses) {
  const claimed_port free;
  const std::string dead = "nats://127.0.0.1:" + std::to_string(free.number());
  connected_broker b = connect(rt_, dead + "," + server().url());
  EXPECT_EQ(b.server().address, server().host_port());
  EXPECT_EQ(b.server().max_payload, 1024U * 1024);
  EXPECT_TRUE(run(std::move(b).shutdown()));
}

// nats 12.3: a bad address in a list of good ones is an error.
TEST_F(nats_core, N1_bad_address_in_a_list_is_a_connect_error) {
  const auto r = run(broker(server().url() + ",http://user:hidden@elsewhere").connect(rt_));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error(), make_error_code(errc::connect));
  EXPECT_EQ(r.error().message().find("hidden"), std::string::npos);
}

// N2, nats 12.1: an unreachable server is an error within a bound.
TEST_F(nats_core, N2_unreachable_server_is_a_connect_error) {
  const claimed_port free;
  const int port = free.number();
  const auto begin = std::chrono::steady_clock::now();
  const auto r = run(broker("nats://user:hidden@127.0.0.1:" + std::to_string(port)).connect(rt_));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 6s);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error(), millrace::errc::connect);
  EXPECT_NE(r.error().message().find(std::to_string(port)), std::string::npos) << r.error().message();
  EXPECT_EQ(r.error().message().find("hidden"), std::string::npos);
}

// N2: a server that accepts and says nothing.
TEST_F(nats_core, N2_silent_server_is_a_connect_error_within_the_timeout) {
  nats_server silent;
  silent.suspend();
  broker b(silent.url());
  b.with_options(connect_options().connect_timeout(300ms));
  const auto begin = std::chrono::steady_clock::now();
  const auto r = run(std::move(b).connect(rt_));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error(), millrace::errc::connect);
}

// nats 3.1
TEST_F(nats_core, queue_group_splits_once_and_an_observer_sees_all) {
  collecting_sink a;
  collecting_sink b;
  collecting_sink observer;
  const auto sa = open(broker_, wildcard("qg.*").queue_group("g"), a);
  const auto sb = open(other_, wildcard("qg.>").queue_group("g"), b); // one group across two patterns
  const auto so = open(broker_, wildcard("qg.>"), observer);
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(send(rt_, *port_, "qg.x", std::to_string(i)));
  ASSERT_TRUE(observer.wait_for(200));
  for (const auto& s : {&sa, &sb, &so})
    run((*s)->stop());
  std::multiset<std::string> together;
  for (const seen& m : a.messages())
    together.insert(m.payload);
  for (const seen& m : b.messages())
    together.insert(m.payload);
  EXPECT_EQ(together.size(), 200U);
  EXPECT_EQ(std::set<std::string>(together.begin(), together.end()).size(), 200U);
}

TEST_F(nats_core, pattern_reads_its_own_level_only) {
  collecting_sink sink;
  const auto s = open(broker_, wildcard("lvl.*"), sink);
  ASSERT_TRUE(send(rt_, *port_, "lvl", "no"));
  ASSERT_TRUE(send(rt_, *port_, "lvl.a.b", "no"));
  ASSERT_TRUE(send(rt_, *port_, "lvl.a:1", "yes")); // any other character is ordinary
  ASSERT_TRUE(sink.wait_for(1));
  run(s->stop());
  EXPECT_EQ(sink.size(), 1U);
  EXPECT_EQ(sink.messages()[0].subject, "lvl.a:1");
}

// nats 5: there is nothing to settle.
TEST_F(nats_core, settlement_is_unsupported) {
  for (const settlement_kind kind :
       {settlement_kind::ack, settlement_kind::retry, settlement_kind::retry_after, settlement_kind::drop}) {
    collecting_sink sink([&](const seen&, incoming&) { return settlement{kind, 1s}; });
    const auto s = open(broker_, subject("settle"), sink);
    EXPECT_FALSE(s->redelivers());
    ASSERT_TRUE(send(rt_, *port_, "settle", "x"));
    ASSERT_TRUE(sink.wait_for(1));
    run(s->stop());
    ASSERT_FALSE(sink.settlements()[0]);
    EXPECT_EQ(sink.settlements()[0].error(), millrace::errc::unsupported);
    EXPECT_EQ(sink.messages()[0].count, 0U);
    EXPECT_FALSE(sink.messages()[0].delays);
  }
}

// nats 4: headers in, in any case, the first value of a name; the partition key.
TEST_F(nats_core, inbound_headers) {
  admin raw(server().url());
  collecting_sink sink;
  const auto s = open(broker_, subject("in.headers"), sink);
  raw.publish_with("in.headers", "x", {{"X-Many", "1"}, {"X-Many", "2"}, {"nats-partition-key", "k"}, {"empty", ""}});
  raw.flush();
  ASSERT_TRUE(sink.wait_for(1));
  run(s->stop());
  const seen m = sink.messages()[0];
  EXPECT_EQ(m.headers.at("X-Many"), "1");
  EXPECT_EQ(m.headers.at("empty"), "");
  EXPECT_EQ(m.partition_key, "k");
}

TEST_F(nats_core, outbound_headers_arrive_in_order) {
  collecting_sink sink;
  const auto s = open(broker_, subject("out.headers"), sink);
  header_map headers;
  headers.set("traceparent", "00-1-2-01");
  headers.set("note", "caf\xc3\xa9, with: a colon");
  headers.set("blank", "");
  ASSERT_TRUE(send(rt_, *port_, "out.headers", "x", &headers));
  ASSERT_TRUE(sink.wait_for(1));
  run(s->stop());
  EXPECT_EQ(sink.messages()[0].headers.size(), 3U);
  EXPECT_EQ(sink.messages()[0].headers.at("note"), "caf\xc3\xa9, with: a colon");
  EXPECT_EQ(sink.messages()[0].headers.at("blank"), "");
}

// nats 12.37: nothing goes out, the error names the header, and the subject is usable after.
TEST_F(nats_core, unsendable_headers_are_refused_by_name) {
  collecting_sink sink;
  const auto s = open(broker_, subject("bad.headers"), sink);
  const std::pair<const char*, const char*> bad[] = {
      {"x-inject", "a\r\nX-Other: b"}, {"na:me", "v"}, {"", "v"}, {"x-binary", "\xff\xfe"}, {"sp ace", "v"}};
  for (const auto& [name, value] : bad) {
    header_map headers;
    headers.set(name, value);
    const auto r = send(rt_, *port_, "bad.headers", "x", &headers);
    ASSERT_FALSE(r) << name;
    EXPECT_NE(r.error().message().find(name), std::string::npos);
  }
  ASSERT_TRUE(send(rt_, *port_, "bad.headers", "fine"));
  ASSERT_TRUE(sink.wait_for(1));
  run(s->stop());
  EXPECT_EQ(sink.size(), 1U);
  EXPECT_EQ(sink.messages()[0].payload, "fine");
}

// nats 12.31: refused locally, headers counted; exactly the limit passes.
TEST_F(nats_core, payload_limit_counts_the_headers) {
  collecting_sink sink;
  const auto s = open(broker_, subject("big"), sink);
  const std::string limit(1024 * 1024, 'x');
  ASSERT_TRUE(send(rt_, *port_, "big", limit));
  const auto over = send(rt_, *port_, "big", limit + "y");
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error(), make_error_code(errc::publish));
  EXPECT_NE(over.error().message().find("big"), std::string::npos);
  header_map headers;
  headers.set("h", "v");
  EXPECT_FALSE(send(rt_, *port_, "big", limit, &headers));
  ASSERT_TRUE(send(rt_, *port_, "big", "small"));
  ASSERT_TRUE(sink.wait_for(2));
  run(s->stop());
}

TEST_F(nats_core, bad_destinations_are_refused) {
  for (const char* destination : {"", " ", "a b", "a..b", ".a", "a.", "orders.*", "orders.>", "a\tb", "a\r\nPUB x 0"}) {
    const auto r = send(rt_, *port_, destination, "x");
    ASSERT_FALSE(r) << destination;
    EXPECT_EQ(r.error(), make_error_code(errc::publish)) << destination;
  }
  EXPECT_TRUE(send(rt_, *port_, "a*b.c>d", "x")); // only a whole token is a wildcard
}

// Descriptors are checked before any I/O.
TEST_F(nats_core, bad_descriptors_are_refused) {
  collecting_sink sink;
  open_options options;
  const auto kind = [&](const auto& source) { return run(broker_.open(source, sink, options)).error().code(); };
  EXPECT_EQ(kind(subject("")), make_error_code(errc::invalid_options));
  EXPECT_EQ(kind(subject("a.*")), make_error_code(errc::invalid_options));
  EXPECT_EQ(kind(subject("a b")), make_error_code(errc::subscribe));
  EXPECT_EQ(kind(wildcard("a.>.b")), make_error_code(errc::subscribe));
  EXPECT_EQ(kind(subject("a").queue_group("two words")), make_error_code(errc::subscribe));
  EXPECT_EQ(kind(std::string()), make_error_code(errc::invalid_options));
  EXPECT_EQ(kind(jetstream("A.B", "x")), make_error_code(errc::jetstream));
  EXPECT_EQ(kind(jetstream("S", "x").durable("a.b")), make_error_code(errc::jetstream));
  EXPECT_EQ(kind(jetstream("S", "a.>.b")), make_error_code(errc::jetstream));
  EXPECT_EQ(kind(jetstream("S", "")), make_error_code(errc::invalid_options));
  EXPECT_EQ(kind(jetstream("S", "x").ack_wait(0s)), make_error_code(errc::invalid_options));
  EXPECT_EQ(kind(jetstream("S", "x").idle_heartbeat(20s)), make_error_code(errc::invalid_options));
}

task<result<reply_message>> ask(publish_port& port, std::string subject, std::string payload, duration timeout,
                                const header_map* headers = nullptr) {
  outgoing m;
  m.destination = subject;
  m.payload = as_bytes(payload);
  m.headers = headers;
  result<reply_message> answer = co_await port.request(m, timeout);
  co_return answer;
}

// nats 7: the inbox is header `reply-to` and the answer comes back, headers too.
TEST_F(nats_core, request_is_answered) {
  collecting_sink responder([&](const seen& m, incoming&) -> std::optional<settlement> {
    header_map headers;
    headers.set("x-echo", m.headers.at("x-in"));
    EXPECT_EQ(m.headers.at("reply-to"), m.reply_to);
    outgoing answer;
    answer.destination = m.reply_to;
    answer.payload = as_bytes("pong");
    answer.headers = &headers;
    publish_operation op(&rt_);
    port_->publish(answer, op);
    return settlement{};
  });
  const auto s = open(broker_, subject("req.echo"), responder);
  header_map headers;
  headers.set("x-in", "1");
  headers.set("reply-to", "literal"); // overridden by the real one
  const auto port = value_of(broker_.pair(publish{}));
  const auto answer = run(ask(*port, "req.echo", "ping", 5s, &headers));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->payload, "pong");
  EXPECT_EQ(answer->headers.get("x-echo"), "1");
  run(s->stop());
}

// nats 12.39: nobody listens: at once, and not as a timeout.
TEST_F(nats_core, request_without_responder_fails_at_once) {
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = run(ask(*port_, "req.nobody", "ping", 10s));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), make_error_code(errc::publish));
}

// nats 12.39, 12.41: heard and not answered: the caller's deadline, with its own kind; the late answer is ignored.
TEST_F(nats_core, request_unanswered_times_out_and_late_replies_are_ignored) {
  collecting_sink deaf;
  const auto s = open(broker_, subject("req.deaf"), deaf);
  const auto answer = run(ask(*port_, "req.deaf", "ping", 200ms));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), make_error_code(errc::request_timeout));
  EXPECT_EQ(answer.error(), millrace::errc::timeout);
  EXPECT_NE(answer.error().message().find("req.deaf"), std::string::npos);
  ASSERT_TRUE(deaf.wait_for(1));
  ASSERT_TRUE(send(rt_, *port_, deaf.messages()[0].reply_to, "late"));
  const auto next = run(ask(*port_, "req.deaf", "ping", 200ms));
  EXPECT_EQ(next.error(), make_error_code(errc::request_timeout));
  run(s->stop());
}

TEST_F(nats_core, many_requests_at_once_find_their_own_answers) {
  collecting_sink responder([&](const seen& m, incoming&) -> std::optional<settlement> {
    outgoing answer;
    answer.destination = m.reply_to;
    answer.payload = as_bytes(m.payload);
    publish_operation op(&rt_);
    port_->publish(answer, op);
    return settlement{};
  });
  const auto s = open(broker_, subject("req.many"), responder);
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string text = std::to_string(t) + "-" + std::to_string(i);
        const auto answer = run(ask(*port_, "req.many", text, 5s));
        right += answer && answer->payload == text ? 1 : 0;
      }
    });
  for (std::thread& t : callers)
    t.join();
  EXPECT_EQ(right, 800);
  run(s->stop());
}

// nats 12.30
TEST_F(nats_core, no_echo_hides_own_publishes_and_responders) {
  connected_broker quiet = connect(rt_, server().url(), connect_options().no_echo());
  collecting_sink sink;
  const auto s = open(quiet, subject("echo"), sink);
  const auto own = value_of(quiet.pair(publish{}));
  ASSERT_TRUE(send(rt_, *own, "echo", "mine"));
  EXPECT_FALSE(run(ask(*own, "echo", "ping", 500ms)));
  ASSERT_TRUE(send(rt_, *port_, "echo", "theirs"));
  ASSERT_TRUE(sink.wait_for(1));
  EXPECT_EQ(sink.messages()[0].payload, "theirs");
  run(s->stop());
  EXPECT_TRUE(run(std::move(quiet).shutdown()));
}

// N5, N6, L3, L4
TEST_F(nats_core, N5_N6_L3_L4_shutdown_counts_and_cuts_off_what_outlives_it) {
  collecting_sink sink;
  const auto s = open(broker_, subject("bye"), sink);
  const auto port = value_of(broker_.pair(publish{}));
  ASSERT_TRUE(send(rt_, *port, "bye", "one"));
  ASSERT_TRUE(sink.wait_for(1));
  run(s->stop());
  const auto begin = std::chrono::steady_clock::now();
  const auto closed = run(std::move(broker_).shutdown());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 100ms);
  ASSERT_TRUE(closed) << closed.error().message();
  EXPECT_GE(closed->messages_sent, 1U);
  EXPECT_GE(closed->messages_received, 1U);
  EXPECT_EQ(closed->connects, 1U);
  const auto late = send(rt_, *port, "bye.late", "x");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), make_error_code(errc::closed));
  EXPECT_EQ(late.error(), millrace::errc::closed);
  EXPECT_NE(late.error().message().find("bye.late"), std::string::npos);
  EXPECT_EQ(run(ask(*port, "bye.late", "x", 1s)).error(), millrace::errc::closed);
}

// nats 12.33: what was published before the shutdown is sent. 12.45: a racing publish is sent or refused, never lost.
TEST_F(nats_core, N5_shutdown_sends_what_was_published_even_in_a_race) {
  collecting_sink sink;
  const auto s = open(other_, subject("race"), sink);
  for (int round = 0; round < 20; ++round) {
    const std::size_t before = sink.size();
    connected_broker b = connect(rt_, server().url());
    const auto port = value_of(b.pair(publish{}));
    std::atomic<std::size_t> accepted = 0;
    std::atomic<bool> started = false;
    std::thread publisher([&] {
      for (;;) {
        if (!send(rt_, *port, "race", "x")) return;
        ++accepted;
        started = true;
      }
    });
    while (!started)
      std::this_thread::yield();
    ASSERT_TRUE(run(std::move(b).shutdown()));
    publisher.join();
    EXPECT_TRUE(sink.wait_for(before + accepted)) << accepted << " against " << sink.size() - before;
  }
  run(s->stop());
}

// L1: construction does no I/O and does not parse; no credential is shown.
TEST_F(nats_core, L1_construction_records_only) {
  const broker b("nats://user:hidden@host,tls://other:4333");
  EXPECT_EQ(b.describe(), "host:4222,other:4333");
  const broker nonsense("::::");
  const broker copy = nonsense;
  (void)copy;
}

// nats 12.26: drops of a slow consumer are counted and reported, not logged one by one.
TEST_F(nats_core, drops_of_a_slow_consumer_are_counted) {
  connected_broker small = connect(rt_, server().url(), connect_options().pending_limit(100));
  collecting_sink sink([](const seen&, incoming&) { return std::nullopt; }); // holds everything
  const auto s = open(small, subject("slow"), sink);
  for (int i = 0; i < 5000; ++i)
    ASSERT_TRUE(send(rt_, *port_, "slow", "x"));
  EXPECT_TRUE(poll([&] { return sink.size() + sink.dropped() >= 5000; }, 10s));
  EXPECT_EQ(sink.size(), 100U);
  EXPECT_EQ(sink.dropped(), 4900U);
  sink.release_kept();
  ASSERT_TRUE(send(rt_, *port_, "slow", "y"));
  ASSERT_TRUE(sink.wait_for(101));
  run(s->stop());
}

// The same with a handler that blocks the delivering thread: the client's own queue drops.
TEST_F(nats_core, drops_behind_a_blocking_handler_are_counted) {
  connected_broker small = connect(rt_, server().url(), connect_options().pending_limit(100));
  std::atomic<bool> go = false;
  collecting_sink sink([&](const seen&, incoming&) {
    go.wait(false);
    return settlement{};
  });
  const auto s = open(small, subject("blocked"), sink);
  for (int i = 0; i < 5000; ++i)
    ASSERT_TRUE(send(rt_, *port_, "blocked", "x"));
  // The answer to the flush behind each SUB comes after everything before it: sent by one connection, and read by the
  // other.
  collecting_sink none;
  const auto sent = open(other_, subject("barrier"), none);
  const auto read = open(small, subject("barrier"), none);
  go = true;
  go.notify_all();
  run(read->stop());
  run(sent->stop());
  run(s->stop());
  EXPECT_EQ(sink.size() + sink.dropped(), 5000U);
  EXPECT_GE(sink.dropped(), 4800U);
}

// Deliveries that outlive subscription and connection keep their bytes and answer.
TEST_F(nats_core, L4_delivery_outlives_its_connection) {
  collecting_sink sink([](const seen&, incoming&) { return std::nullopt; });
  auto s = open(broker_, subject("outlive"), sink);
  ASSERT_TRUE(send(rt_, *port_, "outlive", "kept"));
  ASSERT_TRUE(sink.wait_for(1));
  run(s->stop());
  s.reset();
  ASSERT_TRUE(run(std::move(broker_).shutdown()));
  EXPECT_EQ(as_text(sink.kept()[0]->payload()), "kept");
  EXPECT_FALSE(sink.kept()[0]->settle(settlement{}));
  sink.release_kept();
}

// Destroying a subscription without stopping it ends its deliveries (nats 12.44).
TEST_F(nats_core, destroyed_subscription_calls_no_sink) {
  for (int i = 0; i < 20; ++i) {
    auto sink = std::make_unique<collecting_sink>();
    auto s = open(broker_, subject("destroyed"), *sink);
    std::thread publisher([&] {
      for (int n = 0; n < 500; ++n)
        (void)send(rt_, *port_, "destroyed", "x");
    });
    sink->wait_for(5, 1s);
    s.reset();
    sink.reset();
    publisher.join();
  }
}

} // namespace
} // namespace millrace::nats::test
