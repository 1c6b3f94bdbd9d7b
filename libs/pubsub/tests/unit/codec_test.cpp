// The codec of the hot path against generated code, which knows nothing of it.
#include "protocol/message_codec.hpp"

#include <millrace/pubsub/fields.hpp>

#include <pubsub_wire.pb.h>

#include <random>

namespace millrace::pubsub::detail {
namespace {

std::string encoded(const outgoing_message& m) {
  std::string request;
  put_bytes(request, 1, "projects/p/topics/t");
  const std::size_t before = request.size();
  put_message(request, m);
  EXPECT_EQ(request.size() - before, encoded_size(m));
  return request;
}

TEST(message_codec, writes_what_protobuf_reads) {
  header_map headers;
  headers.set("content-type", "application/json");
  headers.set("partition-key", "never an attribute");
  headers.set("x-empty", "");
  const std::string data("\0\x01\xff", 3);
  const outgoing_message m{as_bytes(data), &headers, "customer-7"};
  wire::PublishRequest read;
  ASSERT_TRUE(read.ParseFromString(encoded(m)));
  EXPECT_EQ(read.topic(), "projects/p/topics/t");
  ASSERT_EQ(read.messages_size(), 1);
  const wire::PubsubMessage& message = read.messages(0);
  EXPECT_EQ(message.data(), data);
  EXPECT_EQ(message.ordering_key(), "customer-7");
  EXPECT_EQ(message.attributes().size(), 2U);
  EXPECT_EQ(message.attributes().at("content-type"), "application/json");
  EXPECT_EQ(message.attributes().at("x-empty"), "");
}

TEST(message_codec, knows_the_size_at_every_length_of_a_length) {
  for (const std::size_t n : {0U, 1U, 127U, 128U, 16383U, 16384U, 3000000U}) {
    const std::string data(n, 'a');
    header_map headers;
    headers.set("n", std::string(n % 1000, 'b'));
    wire::PublishRequest read;
    ASSERT_TRUE(read.ParseFromString(encoded({as_bytes(data), &headers, {}})));
    EXPECT_EQ(read.messages(0).data().size(), n);
  }
}

wire::StreamingPullResponse sample_response() {
  wire::StreamingPullResponse response;
  for (int i = 0; i < 3; ++i) {
    wire::ReceivedMessage& r = *response.add_received_messages();
    r.set_ack_id("ack-" + std::to_string(i));
    r.set_delivery_attempt(i);
    r.mutable_message()->set_data(std::string(static_cast<std::size_t>(i) * 1000, 'd'));
    r.mutable_message()->set_message_id(std::to_string(100 + i));
    r.mutable_message()->set_ordering_key(i == 2 ? "k" : "");
    (*r.mutable_message()->mutable_attributes())["a"] = "1";
    (*r.mutable_message()->mutable_attributes())["b"] = std::string(300, 'v');
    r.mutable_message()->mutable_publish_time()->set_seconds(1'700'000'000);
    r.mutable_message()->mutable_publish_time()->set_nanos(5);
  }
  response.mutable_subscription_properties()->set_exactly_once_delivery_enabled(true);
  return response;
}

TEST(message_codec, reads_what_protobuf_writes) {
  const std::string bytes = sample_response().SerializeAsString();
  std::vector<received_view> seen;
  const response_facts facts = read_response(bytes, [&](const received_view& m) { seen.push_back(m); });
  EXPECT_FALSE(facts.malformed);
  EXPECT_TRUE(facts.has_properties);
  EXPECT_TRUE(facts.exactly_once);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[2].ack_id, "ack-2");
  EXPECT_EQ(seen[2].data.size(), 2000U);
  EXPECT_EQ(seen[2].message_id, "102");
  EXPECT_EQ(seen[2].ordering_key, "k");
  EXPECT_EQ(seen[2].delivery_attempt, 2U);
  EXPECT_EQ(seen[0].delivery_attempt, 0U);
  EXPECT_EQ(read_timestamp(seen[0].publish_time), 1'700'000'000'000'000'005);
  header_map headers;
  read_attributes(seen[1].message, headers);
  EXPECT_EQ(headers.get("a"), "1");
  EXPECT_EQ(headers.get("b"), std::string(300, 'v'));
}

TEST(message_codec, reads_any_bytes_without_a_fault) {
  const std::string good = sample_response().SerializeAsString();
  std::mt19937 random(7); // NOLINT: the same bytes each time
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good.substr(0, random() % good.size());
    for (int flips = 0; flips < 4 && !bytes.empty(); ++flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    header_map headers;
    const auto look = [&](const received_view& m) {
      headers.clear();
      read_attributes(m.message, headers);
      (void)read_timestamp(m.publish_time);
    };
    (void)read_response(bytes, look);
    (void)read_message_ids(bytes);
  }
}

TEST(message_codec, message_ids_come_in_order) {
  wire::PublishResponse response;
  response.add_message_ids("7");
  response.add_message_ids("8");
  const std::string bytes = response.SerializeAsString();
  const auto ids = read_message_ids(bytes);
  ASSERT_TRUE(ids.has_value());
  EXPECT_EQ(*ids, (std::vector<std::string_view>{"7", "8"}));
}

// Row 36 of the specification's list: refused, in process and live alike.
TEST(message_limits, a_message_that_no_service_takes_is_named) {
  header_map headers;
  EXPECT_NE(fault_of({{}, &headers, {}}), "");
  headers.set("partition-key", "is no attribute");
  EXPECT_NE(fault_of({{}, &headers, {}}), "");
  headers.set("a", "");
  EXPECT_EQ(fault_of({{}, &headers, {}}), "");
  headers.set("goog-a", "b");
  EXPECT_TRUE(fault_of({{}, &headers, {}}).contains("goog-a"));
  headers.erase("goog-a");
  headers.set("latin", "caf\xe9");
  EXPECT_TRUE(fault_of({{}, &headers, {}}).contains("latin"));
  headers.set("latin", "caf\xc3\xa9");
  EXPECT_EQ(fault_of({{}, &headers, {}}), "");
  headers.set("long", std::string(1025, 'v'));
  EXPECT_TRUE(fault_of({{}, &headers, {}}).contains("1024"));
  headers.erase("long");
  headers.set(std::string(257, 'n'), "v");
  EXPECT_TRUE(fault_of({{}, &headers, {}}).contains("256"));
  EXPECT_NE(fault_of({as_bytes("x"), nullptr, std::string(1025, 'k')}), "");
}

TEST(message_limits, a_hundred_attributes_and_ten_mebibytes_are_the_end) {
  header_map headers;
  for (int i = 0; i < 100; ++i)
    headers.set("h" + std::to_string(i), "v");
  EXPECT_EQ(fault_of({{}, &headers, {}}), "");
  headers.set("one-more", "v");
  EXPECT_TRUE(fault_of({{}, &headers, {}}).contains("101"));
  std::string data(10UL * 1024 * 1024, 'd');
  EXPECT_EQ(fault_of({as_bytes(data), nullptr, {}}), "");
  data += 'd';
  EXPECT_TRUE(fault_of({as_bytes(data), nullptr, {}}).contains("10 MiB"));
}

} // namespace
} // namespace millrace::pubsub::detail
