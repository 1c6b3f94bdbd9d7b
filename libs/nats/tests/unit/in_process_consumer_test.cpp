#include "unit/in_process_client.hpp"

#include <gtest/gtest.h>

namespace millrace::nats::detail::testing {
namespace {

using millrace::testing::virtual_runtime;
using words = std::vector<std::string>;
using namespace std::chrono_literals;

struct in_process_consumer : ::testing::Test {
  std::string create(std::string_view durable, std::string_view config, std::string_view stream = "ORD") {
    const std::string at = std::string(stream) + "." + std::string(durable);
    return c.request("$JS.API.CONSUMER.DURABLE.CREATE." + at,
                     R"({"stream_name":")" + std::string(stream) + R"(","config":{"durable_name":")" +
                         std::string(durable) + R"(","ack_policy":"explicit",)" + std::string(config) + "}}");
  }
  std::string create_at(std::string_view tail, std::string_view config) {
    return c.request("$JS.API.CONSUMER.CREATE." + std::string(tail),
                     R"({"stream_name":"ORD","config":{"ack_policy":"explicit",)" + std::string(config) + "}}");
  }
  void pull(std::string_view consumer, std::string_view request, std::string_view inbox_subject) {
    ASSERT_TRUE(c.publish("$JS.API.CONSUMER.MSG.NEXT.ORD." + std::string(consumer), request, inbox_subject));
  }
  void publish(std::initializer_list<const char*> payloads, const char* subject = "ord.a") {
    for (const char* payload : payloads)
      ASSERT_TRUE(c.publish(subject, payload));
  }
  /// Everything that a new consumer with this start gets at once.
  words read(std::string_view config) {
    const std::string name = "r" + std::to_string(++readers);
    const std::string made = create(name, config);
    if (made.contains("error")) return {made};
    const auto in = c.listen("read");
    pull(name, R"({"batch":100,"expires":1000000000})", "read");
    return in->payloads();
  }
  virtual_runtime rt;
  client c{rt};
  int readers = 0;
};

bool refused(const std::string& answer, std::string_view err_code, std::string_view text) {
  return answer.contains("\"err_code\":" + std::string(err_code)) && answer.contains(text);
}

TEST_F(in_process_consumer, create_answers_with_the_server_defaults) { // N4
  const std::string made = create("d", R"("filter_subject":"ord.>")");
  for (const char* part :
       {R"("type":"io.nats.jetstream.api.v1.consumer_create_response")", R"("stream_name":"ORD")", R"("name":"d")",
        R"("durable_name":"d")", R"("deliver_policy":"all")", R"("ack_wait":30000000000)", R"("max_ack_pending":1000)",
        R"("max_waiting":512)", R"("max_deliver":-1)", R"("num_pending":0)"})
    EXPECT_TRUE(made.contains(part)) << part << " in " << made;
  EXPECT_FALSE(made.contains("inactive_threshold"));
  EXPECT_TRUE(create_at("ORD", R"("filter_subject":"ord.>")").contains(R"("inactive_threshold":5000000000)"));
  EXPECT_TRUE(create_at("ORD.n", R"("filter_subject":"ord.>")").contains(R"("name":"n")"));
  EXPECT_TRUE(create_at("ORD.m.ord.a", R"("filter_subject":"ord.a")").contains(R"("name":"m")"));
}

TEST_F(in_process_consumer, create_is_refused_as_the_server_words_it) { // N4, nats 3
  ASSERT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  for (const char* filter : {"ord..x", "ord.>.x", "ord x", ">", "*.>", "$JS.API.X"})
    EXPECT_TRUE(refused(create("e", R"("filter_subject":")" + std::string(filter) + '"'), "10093", "valid subset"))
        << filter;
  EXPECT_TRUE(refused(create("a*", R"("x":1)"), "10103", "can not contain"));
  EXPECT_TRUE(refused(create("a/b", R"("x":1)"), "10127", "path separators"));
  EXPECT_TRUE(refused(create(std::string(256, 'x'), R"("x":1)"), "10102", "too long"));
  EXPECT_TRUE(refused(create("e", R"("deliver_policy":"bogus")"), "10025", "invalid JSON"));
  EXPECT_TRUE(refused(create("e", R"("ack_wait":"x")"), "10025", "invalid JSON"));
  EXPECT_TRUE(refused(create("e", R"("max_waiting":-1)"), "10087", "max waiting"));
  EXPECT_TRUE(refused(create_at("ORD", R"("durable_name":"e")"), "10020", "expected to be ephemeral"));
  EXPECT_TRUE(
      refused(create_at("ORD.m.ord.a", R"("filter_subject":"ord.b")"), "10131", "did not match filtered subject"));
  EXPECT_TRUE(refused(create_at("OTHER", R"("filter_subject":"ord.b")"), "10056", "does not match request"));
  EXPECT_TRUE(create("push", R"("deliver_subject":"x")").contains("does not model"));
}

TEST_F(in_process_consumer, two_streams_cannot_serve_one_subject) { // nats 10
  ASSERT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  EXPECT_TRUE(refused(create("d", R"("filter_subject":"*.a")", "OTHER"), "10093", "valid subset"));
}

TEST_F(in_process_consumer, start_policies_need_their_start) { // nats 3
  const auto wrong = [this](const char* config, const char* text) {
    EXPECT_TRUE(refused(create("e", config), "10094", text)) << config;
  };
  wrong(R"("opt_start_seq":4)", "deliver all, but optional start sequence is also set");
  wrong(R"("deliver_policy":"by_start_sequence")", "optional start sequence is not set");
  wrong(R"("deliver_policy":"by_start_time")", "optional start time is not set");
  wrong(R"("deliver_policy":"new","opt_start_time":"2030-01-01T00:00:00Z")", "deliver new, but optional start time");
  wrong(R"("deliver_policy":"last_per_subject")", "optional filter subject is not set");
}

TEST_F(in_process_consumer, immutable_fields) { // nats 12.10
  ASSERT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  EXPECT_TRUE(refused(create("d", R"("filter_subject":"ord.>","deliver_policy":"new")"), "10012",
                      "deliver policy can not be updated"));
  EXPECT_TRUE(
      refused(create("d", R"("filter_subject":"ord.>","max_waiting":7)"), "10012", "max waiting can not be updated"));
  const std::string updated = create("d", R"("filter_subject":"ord.>","ack_wait":1000000000,"max_ack_pending":5)");
  EXPECT_TRUE(updated.contains(R"("ack_wait":1000000000)"));
  ASSERT_FALSE(create("s", R"("deliver_policy":"by_start_sequence","opt_start_seq":2)").contains("error"));
  EXPECT_TRUE(
      refused(create("s", R"("deliver_policy":"by_start_sequence","opt_start_seq":3)"), "10012", "start sequence"));
}

TEST_F(in_process_consumer, deliver_policies) { // nats 3, 10
  ASSERT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  publish({"1"});
  publish({"2"}, "ord.b");
  ASSERT_TRUE(rt.advance(10s)); // the virtual clock begins at one hour
  publish({"3", "4"});
  EXPECT_EQ(read(R"("filter_subject":"ord.>")"), (words{"1", "2", "3", "4"}));
  EXPECT_EQ(read(R"("deliver_policy":"all")"), (words{"1", "2", "3", "4"}));
  EXPECT_EQ(read(R"("deliver_policy":"new")"), words{});
  EXPECT_EQ(read(R"("deliver_policy":"last")"), (words{"4"}));
  EXPECT_EQ(read(R"("deliver_policy":"last","filter_subject":"ord.b")"), (words{"2"}));
  EXPECT_EQ(read(R"("deliver_policy":"last_per_subject","filter_subject":"ord.*")"), (words{"2", "4"}));
  EXPECT_EQ(read(R"("deliver_policy":"by_start_sequence","opt_start_seq":3)"), (words{"3", "4"}));
  EXPECT_EQ(read(R"("deliver_policy":"by_start_sequence","opt_start_seq":40)"), words{});
  EXPECT_EQ(read(R"("deliver_policy":"by_start_time","opt_start_time":"1970-01-01T01:00:05Z")"), (words{"3", "4"}));
  EXPECT_EQ(read(R"("deliver_policy":"by_start_time","opt_start_time":"1970-01-01T03:00:00+02:00")"),
            (words{"1", "2", "3", "4"}));
  EXPECT_EQ(read(R"("filter_subject":"ord.b")"), (words{"2"}));
}

TEST_F(in_process_consumer, last_per_subject_goes_on_with_what_comes) { // nats 3
  publish({});
  ASSERT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  publish({"1", "2"});
  ASSERT_FALSE(create("l", R"("deliver_policy":"last_per_subject","filter_subject":"ord.>")").contains("error"));
  publish({"3"});
  const auto in = c.listen("in");
  pull("l", R"({"batch":5,"expires":1000000000})", "in");
  EXPECT_EQ(in->payloads(), (words{"2", "3"}));
  EXPECT_TRUE(in->messages[0].reply.ends_with(".1")) << in->messages[0].reply;
}

TEST_F(in_process_consumer, delivery_has_the_ack_subject) { // nats 4
  ASSERT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  ASSERT_TRUE(c.publish("ord.a", "x", {}, {{"A", "b"}}));
  publish({"y"});
  const auto in = c.listen("in.*");
  pull("d", "", "in.1");
  ASSERT_EQ(in->messages.size(), 1U);
  EXPECT_EQ(in->messages[0].subject, "ord.a"); // not the inbox
  EXPECT_EQ(in->messages[0].reply, "$JS.ACK.ORD.d.1.1.1.3600000000000.1");
  EXPECT_EQ(in->messages[0].headers.get("A"), "b");
}

TEST_F(in_process_consumer, info_and_delete) {
  ASSERT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  EXPECT_TRUE(c.request("$JS.API.CONSUMER.INFO.ORD.d").contains("consumer_info_response"));
  EXPECT_TRUE(refused(c.request("$JS.API.CONSUMER.INFO.ORD.x"), "10014", "consumer not found"));
  EXPECT_TRUE(c.request("$JS.API.CONSUMER.DELETE.ORD.d").contains(R"("success":true)"));
  EXPECT_TRUE(refused(c.request("$JS.API.CONSUMER.DELETE.ORD.d"), "10014", "consumer not found"));
}

TEST_F(in_process_consumer, a_durable_keeps_its_position_an_ephemeral_dies) { // nats 3.2
  ASSERT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  ASSERT_FALSE(create_at("ORD.e", R"("filter_subject":"ord.>")").contains("error"));
  publish({"1", "2"});
  const auto in = c.listen("in");
  pull("d", "1", "in");
  ASSERT_TRUE(c.publish(in->messages[0].reply, "+ACK"));
  ASSERT_TRUE(rt.advance(6s));
  EXPECT_TRUE(c.request("$JS.API.CONSUMER.INFO.ORD.e").contains("consumer not found"));
  EXPECT_FALSE(create("d", R"("filter_subject":"ord.>")").contains("error"));
  pull("d", "5", "in");
  EXPECT_EQ(in->payloads(), (words{"1", "2"}));
}

TEST_F(in_process_consumer, an_ephemeral_lives_while_somebody_pulls) { // nats 3.2
  ASSERT_FALSE(create_at("ORD.e", R"("filter_subject":"ord.>")").contains("error"));
  auto in = c.listen("in");
  pull("e", R"({"batch":1,"expires":60000000000})", "in");
  ASSERT_TRUE(rt.advance(30s));
  EXPECT_FALSE(c.request("$JS.API.CONSUMER.INFO.ORD.e").contains("error"));
  in.reset(); // nobody listens any more
  ASSERT_TRUE(rt.advance(6s));
  EXPECT_TRUE(c.request("$JS.API.CONSUMER.INFO.ORD.e").contains("consumer not found"));
}

} // namespace
} // namespace millrace::nats::detail::testing
