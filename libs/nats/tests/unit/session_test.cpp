#include "scripted_transport.hpp"
#include "test_sink.hpp"

#include "protocol/js_api.hpp"
#include "session/core_publisher.hpp"
#include "session/core_subscription.hpp"
#include "session/jetstream_publisher.hpp"
#include "session/pull_reader.hpp"

#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

namespace millrace::nats::detail {
namespace {

using namespace std::chrono_literals;
using test::collecting_sink;
using testing::scripted_transport;

class nats_session : public ::testing::Test {
 protected:
  nats_session() { shared_->attach(wire_, deliver_from::io_thread); }

  /// JetStream as it answers when all is well.
  void answer_well() {
    wire_->answer = [this](const scripted_transport::sent& s) {
      if (s.subject.starts_with("$JS.API.STREAM.INFO")) reply(s, R"({"type":"x"})");
      if (s.subject.starts_with("$JS.API.CONSUMER.INFO")) reply(s, R"({"name":"c"})");
      if (s.subject.starts_with("$JS.API.CONSUMER.CREATE") || s.subject.starts_with("$JS.API.CONSUMER.DURABLE"))
        reply(s, R"({"name":"c"})");
    };
  }
  void reply(const scripted_transport::sent& to, std::string payload) { wire_->deliver(to.reply, std::move(payload)); }
  void refuse(const scripted_transport::sent& to, int code) {
    reply(to, R"({"error":{"code":404,"err_code":)" + std::to_string(code) + R"(,"description":"no"}})");
  }
  open_result open(const jetstream& source, sink& to) { return rt_.drive(open_jetstream(shared_, source, to, {})); }
  void message(int sequence, int delivered = 1, bool more = false) {
    const std::string n = std::to_string(sequence);
    const std::string ack =
        "$JS.ACK.S.c." + std::to_string(delivered) + "." + n + "." + n + ".170000000000000000" + n + ".0";
    wire_->deliver_stream(pull_inbox(), "s", ack, n, more);
  }
  std::string pull_inbox() const { return wire_->receivers.rbegin()->first; }

  millrace::testing::virtual_runtime rt_;
  std::shared_ptr<scripted_transport> wire_ = std::make_shared<scripted_transport>();
  std::shared_ptr<connection> shared_ = std::make_shared<connection>(rt_, connect_options().settings());
};

struct told final : reply_waiter {
  void on_reply(result<received> answer) noexcept override { answers.push_back(std::move(answer)); }
  std::vector<result<received>> answers;
};

wire_message to(std::string_view subject) {
  wire_message m;
  m.subject = subject;
  return m;
}

TEST_F(nats_session, mux_correlates_answers) {
  told a;
  told b;
  request_mux::ticket ta;
  request_mux::ticket tb;
  ASSERT_TRUE(shared_->mux().send(to("x"), 1s, a, ta));
  ASSERT_TRUE(shared_->mux().send(to("x"), 1s, b, tb));
  wire_->deliver(wire_->out[1].reply, "for b");
  wire_->deliver(wire_->out[0].reply, "for a");
  ASSERT_EQ(a.answers.size(), 1U);
  EXPECT_EQ(as_text(a.answers[0]->payload()), "for a");
  EXPECT_EQ(as_text(b.answers[0]->payload()), "for b");
  EXPECT_EQ(shared_->mux().pending(), 0U);
}

// nats 12.39: a late answer is ignored, also when its slot is used again.
TEST_F(nats_session, mux_times_out_on_the_clock_and_ignores_late_answers) {
  told a;
  told b;
  request_mux::ticket t;
  ASSERT_TRUE(shared_->mux().send(to("x"), 1s, a, t));
  ASSERT_TRUE(rt_.advance(999ms));
  EXPECT_TRUE(a.answers.empty());
  ASSERT_TRUE(rt_.advance(1ms));
  ASSERT_EQ(a.answers.size(), 1U);
  EXPECT_EQ(a.answers[0].error(), make_error_code(errc::request_timeout));
  ASSERT_TRUE(shared_->mux().send(to("x"), 1s, b, t));
  wire_->deliver(wire_->out[0].reply, "late");
  wire_->deliver("_INBOX.1.zzzz-1", "nobody's");
  wire_->deliver("_INBOX.1.nonsense", "nobody's");
  EXPECT_EQ(a.answers.size(), 1U);
  EXPECT_TRUE(b.answers.empty());
  wire_->deliver(wire_->out[1].reply, "mine");
  EXPECT_EQ(b.answers.size(), 1U);
  ASSERT_TRUE(rt_.advance(10s));
  EXPECT_EQ(b.answers.size(), 1U);
}

TEST_F(nats_session, mux_cancel_and_close_tell_once) {
  told a;
  told b;
  request_mux::ticket ta;
  request_mux::ticket tb;
  ASSERT_TRUE(shared_->mux().send(to("x"), 1s, a, ta));
  ASSERT_TRUE(shared_->mux().send(to("x"), 1s, b, tb));
  EXPECT_TRUE(shared_->mux().cancel(ta));
  EXPECT_FALSE(shared_->mux().cancel(ta));
  shared_->mux().close(error(make_error_code(errc::closed), "x"));
  EXPECT_TRUE(a.answers.empty());
  ASSERT_EQ(b.answers.size(), 1U);
  EXPECT_EQ(b.answers[0].error(), millrace::errc::closed);
  EXPECT_FALSE(shared_->mux().send(to("x"), 1s, a, ta));
}

TEST_F(nats_session, mux_send_that_fails_tells_nobody) {
  told a;
  request_mux::ticket t;
  wire_->fail_subscribe = 1;
  EXPECT_FALSE(shared_->mux().send(to("x"), 1s, a, t));
  wire_->fail_publish = 1;
  EXPECT_FALSE(shared_->mux().send(to("x"), 1s, a, t));
  EXPECT_TRUE(shared_->mux().send(to("x"), 1s, a, t)); // the inbox is subscribed by now
  EXPECT_EQ(shared_->mux().pending(), 1U);
  EXPECT_TRUE(a.answers.empty());
  EXPECT_TRUE(shared_->mux().cancel(t));
}

result<receipt> publish_now(publish_port& port, runtime& rt, const outgoing& m) {
  publish_operation op(&rt);
  port.publish(m, op);
  if (!op.done()) return fail(errc::publish, "not done");
  return op.take();
}

// N6: the closed flag is looked at first, and the error names the destination.
TEST_F(nats_session, N6_L3_L4_publish_after_shutdown_sends_nothing) {
  core_publisher port(shared_);
  outgoing m;
  m.destination = "orders";
  EXPECT_TRUE(publish_now(port, rt_, m));
  ASSERT_TRUE(rt_.drive(shared_->shutdown()));
  const std::size_t before = wire_->out.size();
  const auto late = publish_now(port, rt_, m);
  EXPECT_EQ(late.error(), make_error_code(errc::closed));
  EXPECT_NE(late.error().message().find("orders"), std::string::npos);
  EXPECT_EQ(wire_->out.size(), before);
}

TEST_F(nats_session, N5_shutdown_failure_is_reported) {
  wire_->close_fault = error(make_error_code(errc::shutdown), "drain");
  const auto closed = rt_.drive(shared_->shutdown());
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error(), millrace::errc::shutdown);
}

// N3, every step of opening fails once.
TEST_F(nats_session, N3_core_open_fails_at_every_step) {
  collecting_sink sink;
  const auto open_it = [&] { return rt_.drive(open_core(shared_, "orders", "", sink)); };
  wire_->fail_subscribe = 1;
  auto r = open_it();
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error(), make_error_code(errc::subscribe));
  wire_->flush_fault = error(make_error_code(errc::request_timeout), "flush");
  r = open_it();
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error(), make_error_code(errc::subscribe));
  EXPECT_NE(r.error().message().find("orders"), std::string::npos);
  EXPECT_TRUE(wire_->receivers.empty());
  wire_->flush_fault.reset();
  EXPECT_TRUE(open_it());
  (void)rt_.drive(shared_->shutdown());
  EXPECT_EQ(open_it().error(), make_error_code(errc::closed));
}

TEST_F(nats_session, core_reader_passes_the_connections_fate_on_until_it_is_closed) {
  collecting_sink sink;
  auto s = rt_.drive(open_core(shared_, "orders", "", sink)).value();
  shared_->on_disconnected(error(make_error_code(errc::disconnected), "x"));
  shared_->on_reconnected();
  EXPECT_EQ(sink.events(), (std::vector<std::string>{"interrupted", "resumed"}));
  rt_.drive(s->stop());
  shared_->on_disconnected(error(make_error_code(errc::disconnected), "x"));
  EXPECT_EQ(sink.events().size(), 2U);
}

// N4, every step of opening fails once, with the stream's name.
TEST_F(nats_session, N4_jetstream_open_fails_at_every_step) {
  collecting_sink sink;
  const jetstream source("S", "s");
  for (int step = 1; step <= 2; ++step) { // the call cannot be sent
    wire_ = std::make_shared<scripted_transport>();
    shared_ = std::make_shared<connection>(rt_, connect_options().settings());
    shared_->attach(wire_, deliver_from::io_thread);
    answer_well();
    wire_->fail_publish = step;
    const auto r = open(source, sink);
    ASSERT_FALSE(r) << step;
    EXPECT_EQ(r.error(), make_error_code(errc::jetstream));
    EXPECT_NE(r.error().message().find("'S'"), std::string::npos) << r.error().message();
    EXPECT_EQ(shared_->mux().pending(), 0U);
  }
  for (const std::string silent : {"$JS.API.STREAM", "$JS.API.CONSUMER"}) { // no answer
    wire_->fail_publish = 0;
    answer_well();
    const auto well = wire_->answer;
    wire_->answer = [&, well](const scripted_transport::sent& s) {
      if (!s.subject.starts_with(silent)) well(s);
    };
    wire_->last_error = "Permissions Violation";
    const auto r = open(source, sink);
    ASSERT_FALSE(r) << silent;
    EXPECT_EQ(r.error(), make_error_code(errc::jetstream));
    EXPECT_EQ(r.error().server_text(), "Permissions Violation");
  }
  for (const std::string refused : {"$JS.API.STREAM", "$JS.API.CONSUMER"}) { // refused, or nonsense
    for (const std::string& text :
         {std::string(R"({"error":{"code":404,"err_code":10059}})"), std::string("nonsense")}) {
      answer_well();
      const auto well = wire_->answer;
      wire_->answer = [&, well](const scripted_transport::sent& s) {
        if (s.subject.starts_with(refused))
          reply(s, text);
        else
          well(s);
      };
      const auto r = open(source, sink);
      ASSERT_FALSE(r) << refused << text;
      EXPECT_EQ(r.error(), make_error_code(errc::jetstream));
    }
  }
  answer_well();
  wire_->fail_subscribe = 2; // the pull inbox; the first was the shared one
  const auto r = open(source, sink);
  EXPECT_TRUE(r || r.error() == make_error_code(errc::subscribe));
}

TEST_F(nats_session, settlement_sends_the_acknowledgement_and_errors_keep_the_message) {
  answer_well();
  collecting_sink sink([](const test::seen&, incoming&) { return std::nullopt; });
  auto s = open(jetstream("S", "s").durable("c"), sink).value();
  message(1);
  incoming* const m = sink.kept().at(0);
  EXPECT_EQ(m->delivery_count(), 1U);
  wire_->fail_publish = -1;
  EXPECT_FALSE(m->settle(settlement{}));
  wire_->fail_publish = 0;
  EXPECT_TRUE(m->settle(settlement{settlement_kind::retry_after, 2s}));
  EXPECT_EQ(wire_->out.back().payload, R"(-NAK {"delay":2000000000})");
  EXPECT_EQ(wire_->out.back().subject, "$JS.ACK.S.c.1.1.1.1700000000000000001.0");
  sink.release_kept();
  rt_.drive(s->stop());
}

// nats 12.14
TEST_F(nats_session, silent_consumer_is_looked_up_and_pulled_again) {
  answer_well();
  collecting_sink sink;
  auto s = open(jetstream("S", "s").durable("c"), sink).value();
  EXPECT_EQ(wire_->to("$JS.API.CONSUMER.MSG.NEXT").size(), 1U);
  ASSERT_TRUE(rt_.advance(21s)); // three heartbeats of 5 s and the one that notices
  EXPECT_EQ(wire_->to("$JS.API.CONSUMER.INFO").size(), 1U);
  EXPECT_EQ(wire_->to("$JS.API.CONSUMER.MSG.NEXT").size(), 2U);
  EXPECT_TRUE(sink.events().empty());
  rt_.drive(s->stop());
}

// nats 12.15
TEST_F(nats_session, deleted_durable_ends_the_subscription) {
  answer_well();
  collecting_sink sink;
  auto s = open(jetstream("S", "s").durable("c"), sink).value();
  const std::string reply_to = wire_->to("$JS.API.CONSUMER.MSG.NEXT")[0].reply;
  wire_->answer = [&](const scripted_transport::sent& m) { refuse(m, consumer_not_found); };
  wire_->deliver(reply_to, "", "NATS/1.0 409 Consumer Deleted\r\n\r\n");
  EXPECT_EQ(sink.events(), (std::vector<std::string>{"ended"}));
  ASSERT_TRUE(rt_.advance(60s));
  EXPECT_EQ(wire_->to("$JS.API.CONSUMER.INFO").size(), 1U); // it is over
  rt_.drive(s->stop());
}

TEST_F(nats_session, lookup_without_answer_is_repeated_and_health_is_red_once) {
  answer_well();
  collecting_sink sink;
  auto s = open(jetstream("S", "s").durable("c"), sink).value();
  wire_->answer = nullptr;
  shared_->on_disconnected(error(make_error_code(errc::disconnected), "x"));
  shared_->on_reconnected();
  ASSERT_TRUE(rt_.advance(60s));
  EXPECT_GE(wire_->to("$JS.API.CONSUMER.INFO").size(), 4U);
  EXPECT_EQ(sink.events(), (std::vector<std::string>{"interrupted"}));
  answer_well();
  ASSERT_TRUE(rt_.advance(15s));
  EXPECT_EQ(sink.events(), (std::vector<std::string>{"interrupted", "resumed"}));
  wire_->fail_publish = -1; // and a lookup that cannot even be sent
  shared_->on_disconnected(error(make_error_code(errc::disconnected), "x"));
  shared_->on_reconnected();
  ASSERT_TRUE(rt_.advance(10s));
  wire_->fail_publish = 0;
  ASSERT_TRUE(rt_.advance(15s));
  EXPECT_EQ(sink.events().size(), 4U);
  rt_.drive(s->stop());
}

// nats 12.16
TEST_F(nats_session, lost_ephemeral_is_created_again_behind_what_was_settled) {
  answer_well();
  collecting_sink sink([](const test::seen& m, incoming&) -> std::optional<settlement> {
    if (m.payload == "3") return std::nullopt;
    return settlement{};
  });
  auto s = open(jetstream("S", "s").pull_window(8), sink).value();
  for (int i = 1; i <= 5; ++i)
    message(i);
  const auto well = wire_->answer;
  wire_->answer = [&, well](const scripted_transport::sent& m) {
    if (m.subject.starts_with("$JS.API.CONSUMER.INFO"))
      refuse(m, consumer_not_found);
    else
      well(m);
  };
  shared_->on_disconnected(error(make_error_code(errc::disconnected), "x"));
  shared_->on_reconnected();
  EXPECT_NE(wire_->to("$JS.API.CONSUMER.CREATE").back().payload.find(R"("opt_start_seq":3)"), std::string::npos);
  EXPECT_EQ(sink.events(), (std::vector<std::string>{"interrupted", "resumed"}));
  for (int i = 3; i <= 6; ++i)
    message(i);
  std::vector<std::string> seen;
  for (const auto& m : sink.messages())
    seen.push_back(m.payload);
  EXPECT_EQ(seen, (std::vector<std::string>{"1", "2", "3", "4", "5", "3", "6"}));
  EXPECT_EQ(sink.kept()[0]->settle(settlement{}).error(), millrace::errc::closed);
  EXPECT_TRUE(sink.kept()[1]->settle(settlement{}));
  sink.release_kept();
  rt_.drive(s->stop());
}

TEST_F(nats_session, messages_after_a_stop_go_back_at_once) {
  answer_well();
  collecting_sink sink;
  auto s = open(jetstream("S", "s").durable("c"), sink).value();
  receiver* const inbox = wire_->receivers.at(pull_inbox());
  auto keep = wire_->receivers;
  (void)keep;
  task<void> stopping = s->stop();
  rt_.drive(std::move(stopping));
  inbox->on_message(testing::make_scripted("s", "$JS.ACK.S.c.1.1.1.1.0", "late"), false);
  EXPECT_EQ(sink.size(), 0U);
  EXPECT_EQ(wire_->out.back().payload, "-NAK");
}

using sizes = std::vector<std::size_t>;

// One wake-up of the service for what has come together.
TEST_F(nats_session, messages_that_came_together_are_handed_over_together) {
  answer_well();
  collecting_sink sink;
  auto s = open(jetstream("S", "s").durable("c"), sink).value();
  for (int i = 1; i <= 100; ++i)
    message(i, 1, i != 100);
  message(101);
  EXPECT_EQ(sink.handed_over(), (sizes{64, 36, 1}));
  EXPECT_EQ(sink.messages().at(99).payload, "100");
  rt_.drive(s->stop());
}

// nats 12.21: after an outage a message may come twice, and the second is told by the settlement of the first.
TEST_F(nats_session, after_an_outage_what_comes_twice_at_once_is_handled_once) {
  answer_well();
  collecting_sink sink;
  auto s = open(jetstream("S", "s").durable("c"), sink).value();
  shared_->on_disconnected(error(make_error_code(errc::disconnected), "x"));
  shared_->on_reconnected();
  message(1, 1, true);
  message(2, 1, true);
  message(3, 1, true);
  message(2, 2, true); // acknowledged, and not handled
  message(4, 1, true);
  message(5);
  EXPECT_EQ(sink.handed_over(), (sizes{3, 2}));
  EXPECT_EQ(sink.messages().at(3).payload, "4");
  EXPECT_EQ(wire_->to("$JS.ACK.S.c.2.2.").at(0).payload, "+ACK");
  rt_.drive(s->stop());
}

// What was announced and does not come holds nothing up.
TEST_F(nats_session, a_burst_that_is_cut_short_is_handed_over) {
  answer_well();
  collecting_sink stream;
  auto s = open(jetstream("S", "s").durable("c"), stream).value();
  message(1, 1, true);
  message(2, 1, true);
  EXPECT_EQ(stream.size(), 0U);
  wire_->receivers.at(pull_inbox())->on_cut_short();
  EXPECT_EQ(stream.handed_over(), sizes{2});

  collecting_sink core;
  auto c = rt_.drive(open_core(shared_, "core", "", core)).value();
  receiver* const subject = wire_->receivers.at("core");
  subject->on_message(testing::make_scripted("core", "", "1"), true);
  EXPECT_EQ(core.size(), 0U);
  subject->on_cut_short();
  EXPECT_EQ(core.handed_over(), sizes{1});
  rt_.drive(s->stop());
  rt_.drive(c->stop());
}

// nats 12.34
TEST_F(nats_session, publish_acknowledgement_missing_refused_or_broken) {
  jetstream_publisher port(shared_, "S");
  outgoing m;
  m.destination = "s";
  publish_operation op(&rt_);
  port.publish(m, op);
  EXPECT_EQ(wire_->out.back().headers.get("Nats-Expected-Stream"), "S");
  ASSERT_TRUE(rt_.advance(5s));
  ASSERT_TRUE(op.done());
  EXPECT_EQ(op.take().error(), make_error_code(errc::jetstream));
  wire_->fail_publish = -1;
  publish_operation unsent(&rt_);
  port.publish(m, unsent);
  ASSERT_TRUE(unsent.done());
  EXPECT_EQ(unsent.take().error(), make_error_code(errc::publish));
  wire_->fail_publish = 0;
  for (const char* answer : {"nonsense", R"({"error":{"code":400}})", R"({"stream":"S"})"}) {
    wire_->answer = [&](const scripted_transport::sent& s) { reply(s, answer); };
    publish_operation bad(&rt_);
    port.publish(m, bad);
    ASSERT_TRUE(bad.done());
    EXPECT_EQ(bad.take().error(), make_error_code(errc::jetstream)) << answer;
  }
  wire_->answer = [&](const scripted_transport::sent& s) { wire_->deliver(s.reply, "", "NATS/1.0 503\r\n\r\n"); };
  publish_operation nobody(&rt_);
  port.publish(m, nobody);
  ASSERT_TRUE(nobody.done());
  EXPECT_EQ(nobody.take().error(), make_error_code(errc::jetstream));
}

} // namespace
} // namespace millrace::nats::detail
