#include "unit/in_process_client.hpp"

#include <gtest/gtest.h>

namespace millrace::nats::detail::testing {
namespace {

using millrace::testing::virtual_runtime;
using words = std::vector<std::string>;
using namespace std::chrono_literals;

constexpr const char* wrong_last_0 =
    R"({"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 0"},"stream":"ORD","seq":0})";
constexpr const char* wrong_last_1 =
    R"({"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"ORD","seq":0})";

/// A stream ORD that serves `ord.>`, as a consumer declared it.
struct in_process_publish : ::testing::Test {
  in_process_publish() {
    const std::string made = c.request(
        "$JS.API.CONSUMER.DURABLE.CREATE.ORD.d",
        R"({"stream_name":"ORD","config":{"durable_name":"d","filter_subject":"ord.>","ack_policy":"explicit"}})");
    EXPECT_TRUE(made.contains(R"("name":"d")")) << made;
  }
  [[nodiscard]] bool has_messages(int n) {
    return c.request("$JS.API.STREAM.INFO.ORD").contains("\"messages\":" + std::to_string(n) + ",");
  }
  virtual_runtime rt;
  client c{rt};
};

TEST_F(in_process_publish, is_acknowledged_with_its_sequence) { // nats 6
  EXPECT_EQ(c.request("ord.a", "x"), R"({"stream":"ORD", "seq":1})");
  EXPECT_EQ(c.request("ord.b", "x"), R"({"stream":"ORD", "seq":2})");
  ASSERT_TRUE(c.publish("ord.c", "no reply asked for"));
  EXPECT_TRUE(has_messages(3));
}

TEST_F(in_process_publish, core_subscribers_hear_it_too) { // nats 10
  const auto in = c.listen("ord.*");
  EXPECT_EQ(c.request("ord.a", "x"), R"({"stream":"ORD", "seq":1})");
  EXPECT_EQ(c.request("ord.a", "y", {{"Nats-Expected-Last-Sequence", "7"}}), wrong_last_1);
  EXPECT_EQ(in->payloads(), (words{"x", "y"})); // refused by the stream, heard all the same, as on a server
}

TEST_F(in_process_publish, to_no_stream_has_no_responders) { // nats 6, 10
  EXPECT_EQ(c.request("elsewhere", "x"), "503");
  EXPECT_EQ(c.request("elsewhere", "x", {{"Nats-Expected-Stream", "ORD"}}), "503");
}

TEST_F(in_process_publish, names_a_stream_before_any_consumer) { // nats 10
  EXPECT_EQ(c.request("new.a", "x", {{"Nats-Expected-Stream", "NEW"}}), R"({"stream":"NEW", "seq":1})");
  EXPECT_EQ(c.request("new.a", "x"), R"({"stream":"NEW", "seq":2})"); // it serves the subject now
  const std::string made =
      c.request("$JS.API.CONSUMER.CREATE.NEW",
                R"({"stream_name":"NEW","config":{"filter_subject":"new.b","ack_policy":"explicit"}})");
  EXPECT_FALSE(made.contains("error")) << made;
  EXPECT_EQ(c.request("new.c", "x", {{"Nats-Expected-Stream", "NEW"}}), "503");
  EXPECT_EQ(c.request("new.b", "x", {{"Nats-Expected-Stream", "NEW"}}), R"({"stream":"NEW", "seq":3})");
  EXPECT_EQ(c.request("x", "x", {{"Nats-Expected-Stream", "no.name"}}), "503");
}

TEST_F(in_process_publish, expects_its_stream) { // nats 6
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Stream", "ORD"}}), R"({"stream":"ORD", "seq":1})");
  EXPECT_EQ(
      c.request("ord.a", "x", {{"Nats-Expected-Stream", "OTHER"}}),
      R"({"error":{"code":400,"err_code":10060,"description":"expected stream does not match"},"stream":"ORD","seq":0})");
  EXPECT_TRUE(has_messages(1));
}

TEST_F(in_process_publish, expects_the_last_sequence) { // nats 6
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Sequence", "1"}}), wrong_last_0);
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Sequence", "0"}}), R"({"stream":"ORD", "seq":1})");
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Sequence", "0"}}), wrong_last_1);
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Sequence", "abc"}}), wrong_last_1);
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Sequence", "1"}}), R"({"stream":"ORD", "seq":2})");
}

TEST_F(in_process_publish, expects_the_last_sequence_of_the_subject) { // nats 6
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Subject-Sequence", "5"}}), wrong_last_0);
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Subject-Sequence", "0"}}), R"({"stream":"ORD", "seq":1})");
  EXPECT_EQ(c.request("ord.b", "x", {{"Nats-Expected-Last-Subject-Sequence", "0"}}), R"({"stream":"ORD", "seq":2})");
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Subject-Sequence", "2"}}), wrong_last_1);
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Subject-Sequence", "1"}}), R"({"stream":"ORD", "seq":3})");
}

TEST_F(in_process_publish, expects_the_last_message_id) { // nats 6
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Msg-Id", "a\"b"}}), R"({"stream":"ORD", "seq":1})");
  EXPECT_EQ(
      c.request("ord.a", "x", {{"Nats-Expected-Last-Msg-Id", "c"}}),
      R"({"error":{"code":400,"err_code":10070,"description":"wrong last msg ID: a\"b"},"stream":"ORD","seq":0})");
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Msg-Id", "a\"b"}}), R"({"stream":"ORD", "seq":2})");
  // The last stored message had no id now.
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Expected-Last-Msg-Id", "a\"b"}}),
            R"({"error":{"code":400,"err_code":10070,"description":"wrong last msg ID: "},"stream":"ORD","seq":0})");
}

TEST_F(in_process_publish, repeats_are_duplicates_for_two_minutes) { // nats 6, 10
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Msg-Id", "a"}}), R"({"stream":"ORD", "seq":1})");
  ASSERT_TRUE(rt.advance(119s));
  EXPECT_EQ(c.request("ord.b", "y", {{"Nats-Msg-Id", "a"}}), R"({"stream":"ORD", "seq":1,"duplicate": true})");
  // Before the other expectations, but after the stream, as on a server.
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Msg-Id", "a"}, {"Nats-Expected-Last-Sequence", "9"}}),
            R"({"stream":"ORD", "seq":1,"duplicate": true})");
  EXPECT_TRUE(has_messages(1));
  ASSERT_TRUE(rt.advance(1s));
  EXPECT_EQ(c.request("ord.a", "x", {{"Nats-Msg-Id", "a"}}), R"({"stream":"ORD", "seq":2})");
  EXPECT_EQ(c.request("ord.a", "x", {{"nats-msg-id", "a"}}), R"({"stream":"ORD", "seq":3})"); // names have their case
}

TEST_F(in_process_publish, no_echo_does_not_keep_it_from_the_stream) { // nats 10
  const auto server = make_in_process_server(rt);
  client quiet(server, {.no_echo = true});
  const auto in = quiet.listen("n.a");
  EXPECT_EQ(quiet.request("n.a", "x", {{"Nats-Expected-Stream", "N"}}), R"({"stream":"N", "seq":1})");
  EXPECT_TRUE(in->messages.empty());
}

TEST_F(in_process_publish, stream_info) { // N4, nats 10
  EXPECT_TRUE(c.request("$JS.API.STREAM.INFO.ANY").contains(R"("name":"ANY")"));
  EXPECT_TRUE(c.request("$JS.API.STREAM.INFO.ORD").contains(R"("subjects":["ord.>"])"));
  EXPECT_TRUE(c.request("$JS.API.STREAM.INFO.ORD", "{bad").contains(R"("err_code":10025)"));
  EXPECT_TRUE(c.request("$JS.API.STREAM.INFO.a/b").contains("stream not found"));
  EXPECT_EQ(c.request("$JS.API.STREAM.INFO.two.tokens"), ""); // a server does not answer
  EXPECT_EQ(c.request("$JS.API.STREAM.PURGE.ORD"), "503");    // not modelled: refused at once
}

TEST_F(in_process_publish, the_oldest_go_beyond_the_limit) {
  client small(make_in_process_server(rt, {.stream_messages = 3}));
  const auto in = small.listen("in");
  ASSERT_TRUE(small.publish("s.a", "1", {}, {{"Nats-Expected-Stream", "S"}}));
  const std::string made =
      small.request("$JS.API.CONSUMER.DURABLE.CREATE.S.d",
                    R"({"stream_name":"S","config":{"durable_name":"d","ack_policy":"explicit"}})");
  ASSERT_TRUE(made.contains(R"("num_pending":1)")) << made;
  ASSERT_TRUE(small.publish("$JS.API.CONSUMER.MSG.NEXT.S.d", "1", "in"));
  for (const char* payload : {"2", "3", "4", "5"})
    ASSERT_TRUE(small.publish("s.a", payload));
  const std::string info = small.request("$JS.API.STREAM.INFO.S");
  EXPECT_TRUE(info.contains(R"("messages":3,)")) << info;
  EXPECT_TRUE(info.contains(R"("first_seq":3,)")) << info;
  EXPECT_TRUE(small.request("$JS.API.CONSUMER.INFO.S.d").contains(R"("num_pending":3)"));
  ASSERT_TRUE(rt.advance(31s)); // the unsettled first message is gone and does not come back
  ASSERT_TRUE(small.publish("$JS.API.CONSUMER.MSG.NEXT.S.d", "5", "in"));
  EXPECT_EQ(in->payloads(), (words{"1", "3", "4", "5"}));
}

} // namespace
} // namespace millrace::nats::detail::testing
