#include "admin.hpp"
#include "client.hpp"
#include "nats_server.hpp"
#include "poll.hpp"

#include <millrace/nats/fields.hpp>

#include <algorithm>
#include <set>

namespace millrace::nats::test {
namespace {

/// One server for the suite; each test has its own stream.
class nats_jetstream : public ::testing::Test {
 protected:
  static nats_server& server() {
    static nats_server one;
    return one;
  }
  void SetUp() override { admin_.add_stream(stream_, {stream_ + ".>"}); }
  void TearDown() override { admin_.delete_stream(stream_); }
  [[nodiscard]] std::string on(const std::string& tail) const { return stream_ + "." + tail; }
  [[nodiscard]] jetstream source(const std::string& tail = "a") const { return jetstream(stream_, on(tail)); }

  static inline int made = 0;
  std::string stream_ = "S" + std::to_string(++made);
  admin admin_{server().url()};
  pool_runtime rt_{2};
  connected_broker broker_ = connect(rt_, server().url());
};

// N4: a stream that does not exist aborts the start, by name.
TEST_F(nats_jetstream, N4_missing_stream_is_a_jetstream_error_that_names_it) {
  collecting_sink sink;
  open_options options;
  const auto opened = run(broker_.open(jetstream("NOWHERE", "x"), sink, options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), make_error_code(errc::jetstream));
  EXPECT_NE(opened.error().message().find("NOWHERE"), std::string::npos) << opened.error().message();
  EXPECT_EQ(opened.error().server_code(), 10059);
}

// nats 11: a durable delivers and acknowledges; its position survives.
TEST_F(nats_jetstream, N4_durable_delivers_and_acknowledges) {
  for (int i = 0; i < 10; ++i)
    admin_.store(on("a"), std::to_string(i));
  admin_.store(on("b"), "not for us"); // nats 12.12: the filter is always sent
  collecting_sink sink;
  const auto subscription = open(broker_, source().durable("d"), sink);
  ASSERT_TRUE(sink.wait_for(10));
  run(subscription->stop());
  EXPECT_EQ(sink.messages()[9].payload, "9");
  EXPECT_TRUE(sink.messages()[0].delays);
  EXPECT_EQ(sink.messages()[0].count, 1U);
  const auto state = admin_.consumer(stream_, "d");
  EXPECT_EQ(state.filter, on("a"));
  EXPECT_EQ(state.unacknowledged, 0);

  admin_.store(on("a"), "later");
  collecting_sink again;
  const auto second = open(broker_, source().durable("d"), again);
  ASSERT_TRUE(again.wait_for(1));
  EXPECT_EQ(again.messages()[0].payload, "later");
  run(second->stop());
}

TEST_F(nats_jetstream, fields_of_a_delivery) {
  admin_.store(on("a"), "x");
  std::string seen_stream;
  std::string seen_consumer;
  std::vector<std::uint64_t> numbers;
  collecting_sink sink([&](const seen&, incoming& m) -> std::optional<settlement> {
    seen_stream = *static_cast<const std::string_view*>(m.field(stream));
    seen_consumer = *static_cast<const std::string_view*>(m.field(consumer));
    for (const field_id* id :
         {static_cast<const field_id*>(&stream_sequence), static_cast<const field_id*>(&consumer_sequence),
          static_cast<const field_id*>(&delivered), static_cast<const field_id*>(&pending)})
      numbers.push_back(*static_cast<const std::uint64_t*>(m.field(*id)));
    return settlement{};
  });
  const auto subscription = open(broker_, source().durable("d"), sink);
  ASSERT_TRUE(sink.wait_for(1));
  run(subscription->stop());
  EXPECT_EQ(seen_stream, stream_);
  EXPECT_EQ(seen_consumer, "d");
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 1, 1, 0}));
  EXPECT_FALSE(sink.messages()[0].headers.contains("reply-to"));
}

// nats 11: NAK comes back at once with count 2; TERM never; nats 12.24.
TEST_F(nats_jetstream, retry_comes_back_and_drop_does_not) {
  admin_.store(on("a"), "retry");
  admin_.store(on("a"), "drop");
  collecting_sink sink([](const seen& m, incoming&) -> std::optional<settlement> {
    if (m.payload == "drop") return settlement{settlement_kind::drop, {}};
    return settlement{m.count == 1 ? settlement_kind::retry : settlement_kind::ack, {}};
  });
  const auto subscription = open(broker_, source().durable("d").ack_wait(1s), sink);
  ASSERT_TRUE(sink.wait_for(3));
  EXPECT_FALSE(sink.wait_for(4, 1500ms));
  run(subscription->stop());
  const auto all = sink.messages();
  EXPECT_EQ(all.back().payload, "retry");
  EXPECT_EQ(all.back().count, 2U);
  EXPECT_EQ(admin_.consumer(stream_, "d").unacknowledged, 0);
}

// nats 12.23: the delay is nanoseconds on the wire.
TEST_F(nats_jetstream, delayed_retry_comes_back_after_its_delay) {
  admin_.store(on("a"), "x");
  std::vector<std::chrono::steady_clock::time_point> at;
  collecting_sink sink([&](const seen& m, incoming&) -> std::optional<settlement> {
    at.push_back(std::chrono::steady_clock::now());
    if (m.count == 1) return settlement{settlement_kind::retry_after, 1s};
    return settlement{};
  });
  const auto subscription = open(broker_, source().durable("d"), sink);
  ASSERT_TRUE(sink.wait_for(2));
  run(subscription->stop());
  EXPECT_GE(at[1] - at[0], 990ms);
  EXPECT_LT(at[1] - at[0], 2s);
}

TEST_F(nats_jetstream, unsettled_comes_back_after_ack_wait) {
  admin_.store(on("a"), "x");
  collecting_sink sink([](const seen& m, incoming&) -> std::optional<settlement> {
    if (m.count == 1) return std::nullopt;
    return settlement{};
  });
  const auto subscription = open(broker_, source().durable("d").ack_wait(500ms), sink);
  ASSERT_TRUE(sink.wait_for(2));
  EXPECT_EQ(sink.messages()[1].count, 2U);
  run(subscription->stop());
}

// nats 11: publish acknowledgements, expectations, deduplication.
TEST_F(nats_jetstream, publish_is_acknowledged_with_stream_and_sequence) {
  const auto port = value_of(broker_.pair(jetstream_publish().expect_stream(stream_)));
  jetstream_publish::options options;
  options.expect_last_sequence(0); // nats 12.36: 0 is sent as 0
  const auto first = send(rt_, *port, on("a"), "one", nullptr, &options);
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->id, stream_);
  EXPECT_EQ(first->sequence, 1U);
  EXPECT_FALSE(first->duplicate);
  const auto refused = send(rt_, *port, on("a"), "two", nullptr, &options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::jetstream));
  EXPECT_EQ(refused.error(), millrace::errc::publish);
  EXPECT_EQ(admin_.stored(stream_), 1U);
}

TEST_F(nats_jetstream, violated_expectations_store_nothing) {
  const auto port = value_of(broker_.pair(jetstream_publish{}));
  jetstream_publish::options id;
  apply(id, message_id("m1"));
  ASSERT_TRUE(send(rt_, *port, on("a"), "one", nullptr, &id));
  jetstream_publish::options subject_sequence;
  apply(subject_sequence, expect_last_subject_sequence(7));
  EXPECT_FALSE(send(rt_, *port, on("a"), "x", nullptr, &subject_sequence));
  jetstream_publish::options last_id;
  apply(last_id, expect_last_message_id("other"));
  EXPECT_FALSE(send(rt_, *port, on("a"), "x", nullptr, &last_id));
  const auto elsewhere = value_of(broker_.pair(jetstream_publish().expect_stream("ELSEWHERE")));
  EXPECT_FALSE(send(rt_, *elsewhere, on("a"), "x"));
  EXPECT_EQ(admin_.stored(stream_), 1U);
  jetstream_publish::options met;
  apply(met, expect_last_message_id("m1"));
  apply(met, expect_last_subject_sequence(1));
  EXPECT_TRUE(send(rt_, *port, on("a"), "x", nullptr, &met));
}

// nats 12.34: a repeat with the same id is a duplicate.
TEST_F(nats_jetstream, repeat_with_the_same_id_is_a_duplicate_and_headers_survive) {
  const auto port = value_of(broker_.pair(jetstream_publish{}));
  header_map headers;
  headers.set("x-app", "kept");
  jetstream_publish::options id;
  id.message_id("m1");
  const auto first = value_of(send(rt_, *port, on("a"), "one", &headers, &id));
  const auto second = value_of(send(rt_, *port, on("a"), "one", &headers, &id));
  EXPECT_TRUE(second.duplicate);
  EXPECT_EQ(second.sequence, first.sequence);
  EXPECT_EQ(admin_.stored(stream_), 1U);
  collecting_sink sink;
  const auto subscription = open(broker_, source(), sink);
  ASSERT_TRUE(sink.wait_for(1));
  EXPECT_EQ(sink.messages()[0].headers.at("x-app"), "kept");
  EXPECT_EQ(sink.messages()[0].headers.at("Nats-Msg-Id"), "m1");
  run(subscription->stop());
}

TEST_F(nats_jetstream, publish_to_a_subject_without_stream_fails_at_once) {
  const auto port = value_of(broker_.pair(jetstream_publish{}));
  const auto answer = send(rt_, *port, "nobody.stores.this", "x");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), make_error_code(errc::jetstream));
}

// nats 12.10: an immutable field refuses, loudly.
TEST_F(nats_jetstream, changed_deliver_policy_of_a_durable_is_refused) {
  collecting_sink sink;
  const auto first = open(broker_, source().durable("d"), sink);
  open_options options;
  const auto second = run(broker_.open(source().durable("d").deliver(deliver_policy::new_only()), sink, options));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), make_error_code(errc::jetstream));
  EXPECT_NE(second.error().message().find("deliver policy"), std::string::npos) << second.error().message();
  run(first->stop());
}

TEST_F(nats_jetstream, deliver_policies) {
  for (int i = 1; i <= 5; ++i)
    admin_.store(on("a"), std::to_string(i));
  const auto first_of = [&](deliver_policy policy) {
    collecting_sink sink;
    const auto subscription = open(broker_, source().deliver(policy), sink);
    admin_.store(on("a"), "new");
    EXPECT_TRUE(sink.wait_for(1));
    run(subscription->stop());
    return sink.messages().at(0).payload;
  };
  EXPECT_EQ(first_of(deliver_policy::all()), "1");
  EXPECT_EQ(first_of(deliver_policy::by_start_sequence(3)), "3");
  EXPECT_EQ(first_of(deliver_policy::new_only()), "new");
  EXPECT_EQ(first_of(deliver_policy::last()), "new");
  EXPECT_EQ(first_of(deliver_policy::last_per_subject()), "new");
  EXPECT_EQ(first_of(deliver_policy::by_start_time(std::chrono::system_clock::now() + 1h)), "new");
}

// nats 12.17, 12.18: a backlog with a small max_ack_pending, and a large one, all of it exactly once.
TEST_F(nats_jetstream, backlog_is_read_once_and_in_order) {
  const auto port = value_of(broker_.pair(publish{}));
  constexpr int total = 20000;
  for (int i = 0; i < total; ++i)
    ASSERT_TRUE(send(rt_, *port, on("a"), std::to_string(i)));
  ASSERT_TRUE(poll([&] { return admin_.stored(stream_) >= total; }, 30s));
  for (const std::int64_t limit : {10, 1024}) {
    collecting_sink sink;
    const auto subscription = open(broker_, source().durable("d" + std::to_string(limit)).max_ack_pending(limit), sink);
    ASSERT_TRUE(sink.wait_for(total, 30s)) << sink.size();
    run(subscription->stop());
    const auto all = sink.messages();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(total));
    for (int i = 0; i < total; ++i)
      ASSERT_EQ(all[static_cast<std::size_t>(i)].payload, std::to_string(i));
    EXPECT_EQ(admin_.consumer(stream_, "d" + std::to_string(limit)).unacknowledged, 0);
  }
}

// nats 12.19: with one slow worker the client holds no more than its window.
TEST_F(nats_jetstream, window_starts_at_twice_the_workers) {
  for (int i = 0; i < 100; ++i)
    admin_.store(on("a"), std::to_string(i));
  collecting_sink sink([](const seen&, incoming&) { return std::nullopt; });
  const auto subscription = open(broker_, source().durable("d"), sink, 3);
  ASSERT_TRUE(sink.wait_for(6));
  EXPECT_FALSE(sink.wait_for(7, 300ms));
  run(subscription->stop());
}

// nats 12.15: deleted while a pull is open.
TEST_F(nats_jetstream, deleted_consumer_is_an_error_that_the_service_sees) {
  collecting_sink sink;
  const auto subscription = open(broker_, source().durable("d").idle_heartbeat(200ms), sink);
  admin_.delete_consumer(stream_, "d");
  ASSERT_TRUE(sink.wait_for_event("ended"));
  EXPECT_EQ(*sink.last_error(), make_error_code(errc::jetstream));
  run(subscription->stop());
}

// The same of a stream.
TEST_F(nats_jetstream, deleted_stream_is_an_error_that_the_service_sees) {
  admin_.add_stream("GONE", {"gone"});
  collecting_sink sink;
  const auto subscription = open(broker_, jetstream("GONE", "gone").durable("d").idle_heartbeat(200ms), sink);
  admin_.delete_stream("GONE");
  ASSERT_TRUE(sink.wait_for_event("ended"));
  run(subscription->stop());
}

// nats 12.25
TEST_F(nats_jetstream, purge_leaves_no_stuck_consumer) {
  for (int i = 0; i < 50; ++i)
    admin_.store(on("a"), "old");
  collecting_sink sink([](const seen& m, incoming&) -> std::optional<settlement> {
    if (m.payload == "old") return std::nullopt;
    return settlement{};
  });
  const auto subscription = open(broker_, source().durable("d").pull_window(8).ack_wait(500ms), sink);
  ASSERT_TRUE(sink.wait_for(8));
  admin_.purge(stream_);
  sink.release_kept();
  admin_.store(on("a"), "fresh");
  const auto fresh = [&] {
    const auto all = sink.messages();
    return std::ranges::count(all, std::string("fresh"), &seen::payload);
  };
  EXPECT_TRUE(poll([&] { return fresh() > 0; }, 5s));
  EXPECT_EQ(fresh(), 1);
  run(subscription->stop());
}

// nats 12.11
TEST_F(nats_jetstream, overlapping_consumers_of_a_work_queue_are_refused) {
  admin_.add_stream("WQ", {"wq.>"}, false, true);
  collecting_sink sink;
  const auto first = open(broker_, jetstream("WQ", "wq.a").durable("one"), sink);
  open_options options;
  const auto second = run(broker_.open(jetstream("WQ", "wq.>").durable("two"), sink, options));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), make_error_code(errc::jetstream));
  run(first->stop());
  admin_.delete_stream("WQ");
}

// nats 3.2: after a stop, what was not settled comes back; what was settled does not.
TEST_F(nats_jetstream, L4_delivery_that_outlives_the_connection_answers_closed) {
  admin_.store(on("a"), "x");
  collecting_sink sink([](const seen&, incoming&) { return std::nullopt; });
  auto subscription = open(broker_, source().durable("d"), sink);
  ASSERT_TRUE(sink.wait_for(1));
  run(subscription->stop());
  ASSERT_TRUE(run(std::move(broker_).shutdown()));
  incoming* const held = sink.kept().at(0);
  EXPECT_EQ(as_text(held->payload()), "x");
  const auto settled = held->settle(settlement{});
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error(), millrace::errc::closed);
  subscription.reset();
  sink.release_kept();
  EXPECT_EQ(admin_.consumer(stream_, "d").unacknowledged, 1);
}

// nats 12.9
TEST(nats_jetstream_disabled, N4_is_a_jetstream_error) {
  nats_server server({}, false);
  pool_runtime rt(1);
  connected_broker broker = connect(rt, server.url());
  collecting_sink sink;
  open_options options;
  const auto opened = run(broker.open(jetstream("S", "s"), sink, options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), make_error_code(errc::jetstream));
  EXPECT_TRUE(run(std::move(broker).shutdown()));
}

} // namespace
} // namespace millrace::nats::test
