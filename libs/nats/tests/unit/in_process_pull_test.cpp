#include "unit/in_process_client.hpp"

#include <gtest/gtest.h>

namespace millrace::nats::detail::testing {
namespace {

using millrace::testing::virtual_runtime;
using words = std::vector<std::string>;
using namespace std::chrono_literals;

/// A durable `d` over `ord.>` with an ack wait of one second.
struct in_process_pull : ::testing::Test {
  in_process_pull() { create(R"("ack_wait":1000000000)"); }
  void create(std::string_view more) {
    const std::string made = c.request(
        "$JS.API.CONSUMER.DURABLE.CREATE.ORD.d",
        R"({"stream_name":"ORD","config":{"durable_name":"d","filter_subject":"ord.>","ack_policy":"explicit",)" +
            std::string(more) + "}}");
    EXPECT_FALSE(made.contains("error")) << made;
  }
  void pull(std::string_view request, std::string_view inbox_subject = "in.1") {
    ASSERT_TRUE(c.publish("$JS.API.CONSUMER.MSG.NEXT.ORD.d", request, inbox_subject));
  }
  void publish(std::initializer_list<const char*> payloads) {
    for (const char* payload : payloads)
      ASSERT_TRUE(c.publish("ord.a", payload));
  }
  void settle(const inbox::heard& delivery, std::string_view how) { ASSERT_TRUE(c.publish(delivery.reply, how)); }

  virtual_runtime rt;
  client c{rt};
  std::unique_ptr<inbox> in = c.listen("in.*");
};

constexpr const char* ten_for_an_hour = R"({"batch":10,"expires":3600000000000})";

TEST_F(in_process_pull, statuses) { // nats 3.2
  pull(R"({"batch":1,"no_wait":true})");
  EXPECT_EQ(in->messages.at(0).headers.get("Description"), "No Messages");
  EXPECT_EQ(in->messages.at(0).subject, "in.1");
  EXPECT_EQ(in->take_payloads(), (words{"404"}));
  pull(R"({"batch":3,"expires":300000000})");
  ASSERT_TRUE(rt.advance(299ms));
  EXPECT_TRUE(in->messages.empty());
  ASSERT_TRUE(rt.advance(1ms));
  EXPECT_EQ(in->messages.at(0).headers.get("Description"), "Request Timeout");
  EXPECT_EQ(in->messages.at(0).headers.get("Nats-Pending-Messages"), "3");
  EXPECT_EQ(in->take_payloads(), (words{"408"}));
  pull("{");
  pull(R"({"batch":3,"expires":1000000000,"idle_heartbeat":600000000})");
  EXPECT_EQ(in->messages.at(1).headers.get("Description"), "Bad Request - heartbeat value too large");
  EXPECT_EQ(in->take_payloads(), (words{"400", "400"}));
  EXPECT_EQ(c.request("$JS.API.CONSUMER.MSG.NEXT.ORD.nobody", "1"), ""); // 2.9 is silent
}

TEST_F(in_process_pull, idle_heartbeats) { // nats 12.14
  pull(R"({"batch":3,"expires":1000000000,"idle_heartbeat":300000000})");
  ASSERT_TRUE(rt.advance(900ms));
  EXPECT_EQ(in->messages.at(0).headers.get("Nats-Last-Consumer"), "0");
  EXPECT_EQ(in->take_payloads(), (words{"100", "100", "100"}));
  publish({"1"});
  ASSERT_TRUE(rt.advance(100ms));
  EXPECT_EQ(in->take_payloads(), (words{"1", "408"}));
}

TEST_F(in_process_pull, no_wait_takes_what_is_there) {
  publish({"1"});
  pull(R"({"batch":5,"no_wait":true})");
  EXPECT_EQ(in->messages.back().headers.get("Nats-Pending-Messages"), "4");
  EXPECT_EQ(in->take_payloads(), (words{"1", "408"}));
}

TEST_F(in_process_pull, requests_take_turns) { // nats 3: replicas of a durable compete
  const auto x = c.listen("x");
  const auto y = c.listen("y");
  pull(R"({"batch":3,"expires":1000000000})", "x");
  pull(R"({"batch":3,"expires":1000000000})", "y");
  publish({"1", "2", "3", "4", "5"});
  EXPECT_EQ(x->payloads(), (words{"1", "3", "5"}));
  EXPECT_EQ(y->payloads(), (words{"2", "4"}));
}

TEST_F(in_process_pull, a_request_without_interest_gets_nothing) {
  auto gone = c.listen("gone");
  pull(ten_for_an_hour, "gone");
  gone.reset();
  pull(ten_for_an_hour);
  publish({"1"});
  EXPECT_EQ(in->payloads(), (words{"1"}));
}

TEST_F(in_process_pull, ack_wait_redelivers_and_counts) { // nats 5
  publish({"1", "2"});
  pull(ten_for_an_hour);
  settle(in->messages.at(0), "+ACK");
  ASSERT_TRUE(rt.advance(999ms));
  EXPECT_EQ(in->messages.size(), 2U);
  ASSERT_TRUE(rt.advance(1ms));
  ASSERT_EQ(in->payloads(), (words{"1", "2", "2"}));
  EXPECT_EQ(in->messages[2].reply, "$JS.ACK.ORD.d.2.2.3.3600000000000.0");
  settle(in->messages[2], "");
  ASSERT_TRUE(rt.advance(1h));
  EXPECT_EQ(in->payloads(), (words{"1", "2", "2", "408"}));
}

TEST_F(in_process_pull, redelivery_waits_for_a_request) {
  publish({"1", "2"});
  pull("2");
  ASSERT_TRUE(rt.advance(5s));
  publish({"3"});
  EXPECT_EQ(in->take_payloads(), (words{"1", "2"}));
  pull("5");
  EXPECT_EQ(in->payloads(), (words{"1", "2", "3"})); // redeliveries first, in order
}

TEST_F(in_process_pull, nak_comes_back_at_once) { // nats 5
  publish({"1"});
  pull(ten_for_an_hour);
  settle(in->messages.at(0), "-NAK");
  EXPECT_EQ(in->payloads(), (words{"1", "1"}));
  EXPECT_TRUE(in->messages[1].reply.starts_with("$JS.ACK.ORD.d.2.1.2."));
}

TEST_F(in_process_pull, nak_with_delay_comes_back_then) { // nats 5
  publish({"1"});
  pull(ten_for_an_hour);
  settle(in->messages.at(0), R"(-NAK {"delay":5000000000})"); // longer than the ack wait
  ASSERT_TRUE(rt.advance(4999ms));
  EXPECT_EQ(in->messages.size(), 1U);
  ASSERT_TRUE(rt.advance(1ms));
  ASSERT_EQ(in->messages.size(), 2U);
  EXPECT_TRUE(in->messages[1].reply.starts_with("$JS.ACK.ORD.d.2.1.2."));
  settle(in->messages[1], "-NAK junk"); // as if there were no delay
  EXPECT_EQ(in->messages.size(), 3U);
  settle(in->messages[2], R"(-NAK {"delay":0})");
  ASSERT_TRUE(rt.run());
  ASSERT_TRUE(rt.advance(0s));
  EXPECT_EQ(in->messages.size(), 4U);
}

TEST_F(in_process_pull, term_never_comes_back) { // nats 5
  publish({"1"});
  pull(ten_for_an_hour);
  settle(in->messages.at(0), "+TERM");
  settle(in->messages.at(0), "-NAK"); // too late
  ASSERT_TRUE(rt.advance(10min));
  EXPECT_EQ(in->payloads(), (words{"1"}));
}

TEST_F(in_process_pull, wpi_extends_the_wait) { // nats 12.19
  publish({"1"});
  pull(ten_for_an_hour);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(rt.advance(900ms));
    settle(in->messages.at(0), "+WPI");
  }
  EXPECT_EQ(in->messages.size(), 1U);
  ASSERT_TRUE(rt.advance(1s));
  EXPECT_EQ(in->messages.size(), 2U);
}

TEST_F(in_process_pull, an_ack_may_be_confirmed) {
  publish({"1"});
  pull("1");
  const std::string ack = in->messages.at(0).reply;
  const auto confirmed = c.listen("confirmed");
  ASSERT_TRUE(c.publish(ack, "+ACK", "confirmed"));
  ASSERT_TRUE(c.publish(ack, "+ACK", "confirmed"));
  EXPECT_EQ(confirmed->payloads(), (words{"", ""}));
  EXPECT_EQ(c.request("$JS.ACK.ORD.nobody.1.1.1.1.0", "+ACK"), "503");
}

TEST_F(in_process_pull, max_ack_pending_holds_new_messages_back) { // nats 12.18
  create(R"("ack_wait":1000000000,"max_ack_pending":2)");
  publish({"1", "2", "3"});
  pull(ten_for_an_hour);
  EXPECT_EQ(in->payloads(), (words{"1", "2"}));
  settle(in->messages.at(0), "+ACK");
  EXPECT_EQ(in->payloads(), (words{"1", "2", "3"}));
}

TEST_F(in_process_pull, max_deliver_and_backoff) {
  create(R"("max_deliver":3,"backoff":[1000000000,5000000000])");
  publish({"1"});
  pull(ten_for_an_hour);
  ASSERT_TRUE(rt.advance(1s));
  EXPECT_EQ(in->messages.size(), 2U);
  ASSERT_TRUE(rt.advance(4999ms));
  EXPECT_EQ(in->messages.size(), 2U);
  ASSERT_TRUE(rt.advance(1ms));
  EXPECT_EQ(in->messages.size(), 3U);
  ASSERT_TRUE(rt.advance(10min));
  EXPECT_EQ(in->messages.size(), 3U);
}

TEST_F(in_process_pull, max_bytes_ends_the_request) {
  publish({"1"});
  pull(R"({"batch":3,"expires":1000000000,"max_bytes":10})");
  EXPECT_EQ(in->messages.at(0).headers.get("Description"), "Message Size Exceeds MaxBytes");
  EXPECT_EQ(in->take_payloads(), (words{"409"}));
  pull("1");
  EXPECT_TRUE(in->messages.at(0).reply.starts_with("$JS.ACK.ORD.d.1.1.1.")); // it was not delivered before
}

TEST_F(in_process_pull, too_many_requests) {
  for (int i = 0; i < 512; ++i)
    pull(ten_for_an_hour);
  EXPECT_TRUE(in->messages.empty());
  pull(ten_for_an_hour);
  EXPECT_EQ(in->messages.at(0).headers.get("Description"), "Exceeded MaxWaiting");
}

TEST_F(in_process_pull, deleted_under_an_open_request) { // nats 12.15
  pull(ten_for_an_hour);
  EXPECT_TRUE(c.request("$JS.API.CONSUMER.DELETE.ORD.d").contains("true"));
  EXPECT_EQ(in->messages.at(0).headers.get("Description"), "Consumer Deleted");
  EXPECT_EQ(in->payloads(), (words{"409"}));
}

TEST_F(in_process_pull, a_receiver_may_settle_and_pull) {
  publish({"1", "2", "3"});
  in->then = [this] {
    settle(in->messages.back(), "+ACK");
    if (in->messages.size() < 3) pull("1");
  };
  pull("1");
  EXPECT_EQ(in->payloads(), (words{"1", "2", "3"}));
  EXPECT_TRUE(c.request("$JS.API.CONSUMER.INFO.ORD.d").contains(R"("num_ack_pending":0)"));
}

TEST_F(in_process_pull, a_connection_may_close_with_timers_set) {
  publish({"1"});
  pull(ten_for_an_hour);
  EXPECT_TRUE(rt.drive(c->close(1s)));
  ASSERT_TRUE(rt.advance(1h));
  EXPECT_EQ(in->payloads(), (words{"1"}));
}

} // namespace
} // namespace millrace::nats::detail::testing
