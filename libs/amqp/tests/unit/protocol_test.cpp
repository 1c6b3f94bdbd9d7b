// The codec of messages beside Proton's own, and URLs.
#include "protocol/message_in.hpp"
#include "protocol/message_out.hpp"
#include "protocol/url.hpp"
#include "protocol/value.hpp"

#include <millrace/amqp.hpp>

#include <gtest/gtest.h>
#include <proton/codec.h>
#include <proton/message.h>

#include <memory>

namespace millrace::amqp::detail {
namespace {

struct free_message {
  void operator()(pn_message_t* m) const noexcept { pn_message_free(m); }
};
using message_ptr = std::unique_ptr<pn_message_t, free_message>;

message_ptr decoded_by_proton(const std::string& bytes) {
  message_ptr m(pn_message());
  EXPECT_EQ(pn_message_decode(m.get(), bytes.data(), bytes.size()), 0);
  return m;
}

std::string encoded_by_proton(pn_message_t* m) {
  std::string bytes(4096, '\0');
  std::size_t size = bytes.size();
  EXPECT_EQ(pn_message_encode(m, bytes.data(), &size), 0);
  bytes.resize(size);
  return bytes;
}

pn_bytes_t lent(std::string_view text) { return pn_bytes(text.size(), text.data()); }

/// Section 9: every header that has a place, the rest as application properties, one data section.
TEST(amqp_protocol, what_is_written_is_what_proton_reads) {
  header_map headers;
  headers.set("Content-Type", "application/json");
  headers.set("correlation-id", "c-7");
  headers.set("reply-to", "answers");
  headers.set("message-id", "m-9");
  headers.set("partition-key", "eu");
  headers.set("x-text", "caf\xc3\xa9");
  headers.set("x-bytes", "\xff\xfe");
  message_options options;
  options.priority = 7;
  options.ttl = std::chrono::microseconds(1500);
  message_options defaults;
  defaults.durable = true;
  outbound_message out;
  out.headers = &headers;
  out.options = &options;
  out.defaults = &defaults;
  out.payload = as_bytes("{}");
  std::string bytes;
  ASSERT_TRUE(append_message(bytes, out));
  const message_ptr m = decoded_by_proton(bytes);
  EXPECT_TRUE(pn_message_is_durable(m.get()));
  EXPECT_EQ(pn_message_get_priority(m.get()), 7);
  EXPECT_EQ(pn_message_get_ttl(m.get()), 2U); // begun milliseconds count
  EXPECT_STREQ(pn_message_get_content_type(m.get()), "application/json");
  EXPECT_STREQ(pn_message_get_reply_to(m.get()), "answers");
  EXPECT_STREQ(pn_message_get_group_id(m.get()), "eu");
  const pn_msgid_t correlation = pn_message_get_correlation_id(m.get());
  EXPECT_EQ(std::string_view(correlation.u.as_bytes.start, correlation.u.as_bytes.size), "c-7");
  pn_data_t* const properties = pn_message_properties(m.get());
  ASSERT_TRUE(pn_data_next(properties));
  EXPECT_EQ(pn_data_get_map(properties), 4U);
  pn_data_enter(properties);
  pn_data_next(properties);
  pn_data_next(properties);
  EXPECT_EQ(pn_data_type(properties), PN_STRING);
  pn_data_next(properties);
  pn_data_next(properties);
  EXPECT_EQ(pn_data_type(properties), PN_BINARY);
  pn_data_t* const body = pn_message_body(m.get());
  ASSERT_TRUE(pn_data_next(body));
  EXPECT_EQ(pn_data_type(body), PN_BINARY);
}

TEST(amqp_protocol, sections_without_content_are_left_out) {
  outbound_message out;
  std::string bytes;
  ASSERT_TRUE(append_message(bytes, out));
  EXPECT_EQ(bytes, (std::string{0, 0x53, 0x70, char(0xc0), 2, 1, 0x42, 0, 0x53, 0x75, char(0xa0), 0}));
}

TEST(amqp_protocol, long_texts_and_large_payloads) {
  header_map headers;
  headers.set("message-id", std::string(300, 'm'));
  headers.set("x", std::string(70'000, 'v'));
  const std::string payload(100'000, 'p');
  outbound_message out;
  out.headers = &headers;
  out.payload = as_bytes(payload);
  std::string bytes;
  ASSERT_TRUE(append_message(bytes, out));
  (void)decoded_by_proton(bytes);
  const received in = read_message(bytes);
  EXPECT_EQ(in.payload, payload);
  header_map back;
  add_headers(back, in);
  EXPECT_EQ(back.get("x")->size(), 70'000U);
  EXPECT_EQ(back.get("message-id")->size(), 300U);
}

TEST(amqp_protocol, ttl_out_of_range_and_headers_that_are_no_text) {
  message_options options;
  options.ttl = std::chrono::hours(24 * 60);
  outbound_message out;
  out.options = &options;
  std::string bytes;
  EXPECT_EQ(append_message(bytes, out).error(), amqp::errc::invalid_options);
  header_map headers;
  headers.set("reply-to", "\xff");
  out = {};
  out.headers = &headers;
  EXPECT_NE(append_message(bytes, out).error().message().find("reply-to"), std::string::npos);
}

/// Every type that a foreign peer may put into application properties.
TEST(amqp_protocol, every_scalar_becomes_text) {
  const message_ptr m(pn_message());
  pn_data_t* const map = pn_message_properties(m.get());
  pn_data_put_map(map);
  pn_data_enter(map);
  const auto name = [&](std::string_view n) { pn_data_put_string(map, lent(n)); };
  name("true"), pn_data_put_bool(map, true);
  name("ubyte"), pn_data_put_ubyte(map, 200);
  name("byte"), pn_data_put_byte(map, -7);
  name("ushort"), pn_data_put_ushort(map, 60000);
  name("short"), pn_data_put_short(map, -300);
  name("uint"), pn_data_put_uint(map, 4000000000U);
  name("uint0"), pn_data_put_uint(map, 0);
  name("int"), pn_data_put_int(map, -70000);
  name("smallint"), pn_data_put_int(map, -5);
  name("ulong"), pn_data_put_ulong(map, 1ULL << 60);
  name("long"), pn_data_put_long(map, -(1LL << 60));
  name("smalllong"), pn_data_put_long(map, 3);
  name("float"), pn_data_put_float(map, 1.5F);
  name("double"), pn_data_put_double(map, -0.25);
  name("char"), pn_data_put_char(map, 0x20ac);
  name("timestamp"), pn_data_put_timestamp(map, 1234567890123);
  name("uuid"), pn_data_put_uuid(map, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, char(0xff)}});
  name("string"), pn_data_put_string(map, lent("s"));
  name("symbol"), pn_data_put_symbol(map, lent("sym"));
  name("binary"), pn_data_put_binary(map, lent("\x01\x02"));
  name("null"), pn_data_put_null(map);
  pn_data_exit(map);
  std::string bytes = encoded_by_proton(m.get());
  header_map headers;
  add_headers(headers, read_message(bytes));
  const std::pair<const char*, const char*> expected[] = {{"true", "true"},
                                                          {"ubyte", "200"},
                                                          {"byte", "-7"},
                                                          {"ushort", "60000"},
                                                          {"short", "-300"},
                                                          {"uint", "4000000000"},
                                                          {"uint0", "0"},
                                                          {"int", "-70000"},
                                                          {"smallint", "-5"},
                                                          {"ulong", "1152921504606846976"},
                                                          {"long", "-1152921504606846976"},
                                                          {"smalllong", "3"},
                                                          {"float", "1.5"},
                                                          {"double", "-0.25"},
                                                          {"char", "\xe2\x82\xac"},
                                                          {"timestamp", "1234567890123"},
                                                          {"uuid", "01020304-0506-0708-090a-0b0c0d0e0fff"},
                                                          {"string", "s"},
                                                          {"symbol", "sym"},
                                                          {"binary", "\x01\x02"}};
  for (const auto& [key, value] : expected)
    EXPECT_EQ(headers.get(key), value) << key;
  EXPECT_FALSE(headers.contains("null"));
}

/// Section 9: message and correlation ids of every type; an application property wins over the property of its name.
TEST(amqp_protocol, identifiers_and_the_property_that_wins) {
  const message_ptr m(pn_message());
  pn_data_put_ulong(pn_message_id(m.get()), 77);
  pn_data_put_uuid(pn_message_correlation_id(m.get()), {{0}});
  pn_message_set_content_type(m.get(), "text/plain");
  pn_data_t* const map = pn_message_properties(m.get());
  pn_data_put_map(map);
  pn_data_enter(map);
  pn_data_put_string(map, lent("content-type")), pn_data_put_string(map, lent("text/csv"));
  pn_data_put_string(map, lent("x-millrace-retry-count")), pn_data_put_string(map, lent("3"));
  pn_data_exit(map);
  std::string bytes = encoded_by_proton(m.get());
  const received in = read_message(bytes);
  header_map headers;
  add_headers(headers, in);
  EXPECT_EQ(headers.get("message-id"), "77");
  EXPECT_EQ(headers.get("correlation-id"), "00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(headers.get("content-type"), "text/csv");
  EXPECT_EQ(copies_of(in), 3U);
}

/// Section 9: bodies that have a byte form, and those that have none.
TEST(amqp_protocol, every_kind_of_body) {
  const std::string data = std::string{0, 0x53, 0x75, char(0xa0), 2, 'a', 'b'};
  const auto payload = [](std::string bytes) { return std::string(read_message(bytes).payload); };
  EXPECT_EQ(payload(data), "ab");
  EXPECT_EQ(payload(data + data + data), "ababab");
  EXPECT_EQ(payload(""), "");
  EXPECT_EQ(payload(std::string{0, 0x53, 0x77, char(0xa1), 2, 'h', 'i'}), "hi");
  EXPECT_EQ(payload(std::string{0, 0x53, 0x77, char(0xa0), 1, 'x'}), "x");
  EXPECT_EQ(payload(std::string{0, 0x53, 0x77, 0x40}), "");
  EXPECT_EQ(payload(std::string{0, char(0x80), 0, 0, 0, 0, 0, 0, 0, 0x75, char(0xb0), 0, 0, 0, 1, 'z'}), "z");
  using kind = received::body_kind;
  const auto body = [](std::string bytes) { return read_message(bytes).body; };
  EXPECT_EQ(body(std::string{0, 0x53, 0x77, 0x45}), kind::unsupported);
  EXPECT_EQ(body(std::string{0, 0x53, 0x77, 0x54, 5}), kind::unsupported);
  EXPECT_EQ(body(std::string{0, 0x53, 0x76, 0x45}), kind::unsupported);
  EXPECT_EQ(body("garbage"), kind::malformed);
  EXPECT_EQ(body(std::string{0, 0x53, 0x75, char(0xa0), 9, 'a'}), kind::malformed);
  EXPECT_EQ(body(std::string{0, 0x53, 0x75, char(0xa0), 2, 'a', 'b', 0}), kind::malformed);
}

TEST(amqp_protocol, the_header_section_and_its_defaults) {
  std::string bytes = std::string{0, 0x53, 0x70, char(0xc0), 9, 5, 0x41, 0x50, 8, 0x40, 0x42, 0x52, 4};
  bytes[4] = static_cast<char>(bytes.size() - 5);
  const received in = read_message(bytes);
  EXPECT_TRUE(in.durable);
  EXPECT_EQ(in.priority, 8);
  EXPECT_FALSE(in.first_acquirer);
  EXPECT_EQ(in.failed_deliveries, 4U);
  std::string none;
  EXPECT_EQ(read_message(none).priority, 4);
}

TEST(amqp_protocol, utf8_is_told_from_bytes) {
  for (const char* good : {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
    EXPECT_TRUE(is_utf8(good));
  for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\x80"})
    EXPECT_FALSE(is_utf8(bad));
}

/// A1, A2: what a URL may be; no error text shows the login.
TEST(amqp_protocol, A1_A2_urls) {
  const auto to = parse_url("amqps://us%40er:p%2Fw@[::1]:5000,b/");
  ASSERT_TRUE(to) << to.error().message();
  EXPECT_TRUE(to->tls);
  EXPECT_EQ(to->login->user, "us@er");
  EXPECT_EQ(to->login->password, "p/w");
  ASSERT_EQ(to->hosts.size(), 2U);
  EXPECT_EQ(to->hosts[0].text(), "[::1]:5000");
  EXPECT_EQ(to->hosts[1].text(), "b:5671");
  EXPECT_EQ(parse_url("amqp://h")->hosts[0].port, 5672);
  for (const char* bad : {"", "http://h", "amqp://", "amqp://u:secret@", "amqp://u:secret@h:0", "amqp://u:secret@h:x",
                          "amqp://u:sec%ret@h", "amqp://u:secret@h/path", "amqp://u:secret@[::1",
                          "amqp://u:secret@a,,b", "amqp://u:secret@h:70000"}) {
    const auto refused = parse_url(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error(), millrace::errc::connect);
    EXPECT_EQ(refused.error().message().find("sec"), std::string::npos) << bad;
  }
  EXPECT_EQ(broker("amqp://u:secret@a,b").describe(), "amqp://a:5672,b:5672");
  EXPECT_EQ(broker("nonsense with secret@").describe(), "amqp");
}

/// A router's prefix stands in front of the name, also where the address is a path.
TEST(amqp_protocol, a_prefix_stands_in_front_of_the_name) {
  queue orders("orders");
  orders.add_prefix("eu.");
  EXPECT_EQ(orders.name(), "eu.orders");
  EXPECT_EQ(orders.retries().address, "eu.orders");
  raw path("/queue/orders");
  path.add_prefix("eu.");
  EXPECT_EQ(path.name(), "/queue/eu.orders");
}

} // namespace
} // namespace millrace::amqp::detail
