#include "protocol/ack.hpp"
#include "protocol/address.hpp"
#include "protocol/header_block.hpp"
#include "protocol/header_check.hpp"
#include "protocol/js_api.hpp"
#include "protocol/subject.hpp"

#include <millrace/nats.hpp>

#include <gtest/gtest.h>

namespace millrace::nats::detail {
namespace {

using namespace std::chrono_literals;

TEST(nats_subject, a_subject_has_no_wildcard_token) {
  for (const char* good : {"a", "a.b.c", "a:b", "a*b.c>d", "$JS.API", "caf\xc3\xa9"})
    EXPECT_EQ(check_subject(good), subject_fault::none) << good;
  EXPECT_EQ(check_subject(""), subject_fault::empty);
  EXPECT_EQ(check_subject("a b"), subject_fault::whitespace);
  EXPECT_EQ(check_subject(std::string_view("a\0b", 3)), subject_fault::whitespace);
  for (const char* bad : {".", ".a", "a.", "a..b"})
    EXPECT_EQ(check_subject(bad), subject_fault::empty_token) << bad;
  for (const char* bad : {"*", ">", "a.*", "*.a", "a.*.b", "a.>", "a.>.b"})
    EXPECT_EQ(check_subject(bad), subject_fault::wildcard) << bad;
}

TEST(nats_subject, a_pattern_has_the_rest_only_at_the_end) {
  for (const char* good : {"a", "*", ">", "a.*", "*.*", "a.>", "*.>"})
    EXPECT_EQ(check_pattern(good), subject_fault::none) << good;
  for (const char* bad : {">.a", "a.>.b"})
    EXPECT_EQ(check_pattern(bad), subject_fault::misplaced_wildcard) << bad;
  EXPECT_EQ(check_pattern("a..>"), subject_fault::empty_token);
}

TEST(nats_subject, matching) {
  EXPECT_TRUE(matches("a.*", "a.b"));
  EXPECT_TRUE(matches("a.>", "a.b.c"));
  EXPECT_TRUE(matches("*.b.>", "a.b.c"));
  EXPECT_FALSE(matches("a.*", "a"));
  EXPECT_FALSE(matches("a.*", "a.b.c"));
  EXPECT_FALSE(matches("a.>", "a"));
  EXPECT_FALSE(matches("a.b", "a.c"));
}

TEST(nats_address, N1_one_or_a_list) {
  const auto list = parse_addresses("nats://a:4222, tls://u:p@b:4333,c,[::1]:5,[::1]");
  ASSERT_TRUE(list) << list.error().message();
  ASSERT_EQ(list->size(), 5U);
  EXPECT_EQ((*list)[0].url, "nats://a:4222");
  EXPECT_EQ((*list)[1].url, "tls://u:p@b:4333");
  EXPECT_EQ((*list)[1].host_port, "b:4333");
  EXPECT_TRUE((*list)[1].tls);
  EXPECT_EQ((*list)[2].host_port, "c:4222");
  EXPECT_EQ((*list)[3].host_port, "[::1]:5");
  EXPECT_EQ((*list)[4].host_port, "[::1]:4222");
}

// nats 12.3
TEST(nats_address, N1_bad_ones_are_connect_errors_without_secrets) {
  for (const char* bad : {"", " ", "a,", ",a", "http://a", "nats://", "a:port", "a:0", "a:70000", "a:", "a b",
                          "u:s3cret@", "http://u:s3cret@h", "u:s3cret@h:x", "::1", "nats://[::1", "a/path"}) {
    const auto parsed = parse_addresses(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error(), make_error_code(errc::connect)) << bad;
    EXPECT_EQ(parsed.error().message().find("s3cret"), std::string::npos) << parsed.error().message();
  }
}

TEST(nats_address, L1_description_shows_no_secret_and_never_fails) {
  EXPECT_EQ(describe_addresses("nats://u:p@a:1,b"), "a:1,b:4222");
  EXPECT_EQ(describe_addresses(""), "");
}

// nats 12.37
TEST(nats_headers, text_only) {
  EXPECT_TRUE(check_header("x-a", "caf\xc3\xa9\tb"));
  EXPECT_TRUE(check_header("x-a", ""));
  const std::pair<std::string_view, std::string_view> bad[] = {{"", "v"},
                                                               {"a:b", "v"},
                                                               {"a b", "v"},
                                                               {"a\r\n", "v"},
                                                               {"caf\xc3\xa9", "v"},
                                                               {"a", "x\r\ny"},
                                                               {"a", "\x01"},
                                                               {"a", "\xff"},
                                                               {"a", "\xc0\x80"},
                                                               {"a", "\xed\xa0\x80"},
                                                               {"a", "\xe2\x82"},
                                                               {"a", "\x7f"},
                                                               {"a", "\xf4\x90\x80\x80"}};
  for (const auto& [name, value] : bad)
    EXPECT_FALSE(check_header(name, value)) << name << ' ' << value;
  EXPECT_NE(check_header("x-b", "\xff").error().message().find("x-b"), std::string::npos);
}

TEST(nats_headers, block_is_read_in_order_with_its_status) {
  constexpr std::string_view block = "NATS/1.0 503 No Responders\r\nB: 2\r\nempty:\r\nA:  1 \r\nb: 3\r\n\r\n";
  header_map map;
  parse_header_block(block, map);
  ASSERT_EQ(map.size(), 5U);
  EXPECT_EQ(map.get("Status"), "503");
  EXPECT_EQ(map.get("Description"), "No Responders");
  EXPECT_EQ(map[2].name, "B");
  EXPECT_EQ(map.get("b"), "2");
  EXPECT_EQ(map.get("empty"), "");
  EXPECT_EQ(map.get("a"), "1");
  EXPECT_EQ(find_in_header_block(block, "a"), "1");
  EXPECT_EQ(find_in_header_block(block, "status"), "503");
  EXPECT_EQ(find_in_header_block(block, "nothing"), "");
}

TEST(nats_headers, malformed_blocks_are_survived) {
  for (const char* block : {"", "NATS", "HTTP/1.1 200\r\na: b\r\n\r\n", "NATS/1.0", "NATS/1.0\r\n",
                            "NATS/1.0\r\n:\r\nab\r\n", "NATS/1.0\r\na", "NATS/1.0 5\r\n\r\n"}) {
    header_map map;
    parse_header_block(block, map);
    EXPECT_LE(map.size(), 1U) << block;
  }
}

TEST(nats_ack, subject_in_both_forms) {
  const auto nine = parse_ack_subject("$JS.ACK.S.C.2.30.4.1700000000000000000.5");
  ASSERT_TRUE(nine);
  EXPECT_EQ(nine->stream, "S");
  EXPECT_EQ(nine->consumer, "C");
  EXPECT_EQ(nine->delivered, 2U);
  EXPECT_EQ(nine->stream_sequence, 30U);
  EXPECT_EQ(nine->consumer_sequence, 4U);
  EXPECT_EQ(nine->pending, 5U);
  for (const char* text : {"$JS.ACK._.acc.S.C.2.30.4.1700000000000000000.5", "$JS.ACK.hub.acc.S.C.2.30.4.1.5.random"}) {
    const auto longer = parse_ack_subject(text);
    ASSERT_TRUE(longer) << text;
    EXPECT_EQ(longer->stream, "S");
    EXPECT_EQ(longer->pending, 5U);
  }
  EXPECT_EQ(delivered_count("$JS.ACK.S.C.7.30.4.1.5"), 7U);
  for (const char* bad : {"", "a.b", "$JS.ACK.S.C.2.30.4", "$JS.ACK.S.C.x.30.4.1.5", "$JS.ACK.S.C.2.30.4.1.5.6"})
    EXPECT_FALSE(parse_ack_subject(bad)) << bad;
}

TEST(nats_ack, identity_in_every_form) {
  for (const char* text : {"$JS.ACK.S.C.2.30.4.1700000000000000001.5", "$JS.ACK._.acc.S.C.2.30.4.1700000000000000001.5",
                           "$JS.ACK.hub.acc.S.C.2.30.4.1700000000000000001.5.random",
                           "$JS.ACK.hub.acc.S.C.2.30.4.1700000000000000001.5.123456"}) {
    const auto it = identify(text);
    ASSERT_TRUE(it) << text;
    EXPECT_EQ(it->stream_sequence, 30U);
    EXPECT_EQ(it->stored_at, identify("$JS.ACK.S.C.1.30.1.1700000000000000001.0")->stored_at);
    EXPECT_NE(it->stored_at, identify("$JS.ACK.S.C.2.30.4.1700000000000000002.5")->stored_at);
  }
  for (const char* bad : {"", ".", "....", "a.b.c", "$JS.ACK.S.C.2.30.4.17.5", "$JS.ACK.1700000000000000001.5",
                          "other.ACK.S.C.2.30.4.1700000000000000001.5", "$JS.ACK.S.C.2.x.4.1700000000000000001.5"})
    EXPECT_FALSE(identify(bad)) << bad;
}

// nats 12.23: nanoseconds; zero is a plain retry.
TEST(nats_ack, payloads) {
  ack_storage storage;
  EXPECT_EQ(ack_payload({settlement_kind::ack, {}}, storage), "+ACK");
  EXPECT_EQ(ack_payload({settlement_kind::retry, {}}, storage), "-NAK");
  EXPECT_EQ(ack_payload({settlement_kind::drop, {}}, storage), "+TERM");
  EXPECT_EQ(ack_payload({settlement_kind::retry_after, 1500ms}, storage), R"(-NAK {"delay":1500000000})");
  EXPECT_EQ(ack_payload({settlement_kind::retry_after, 1us}, storage), R"(-NAK {"delay":1000})");
  EXPECT_EQ(ack_payload({settlement_kind::retry_after, 0ns}, storage), "-NAK");
  EXPECT_EQ(ack_payload({settlement_kind::retry_after, duration::max()}, storage),
            R"(-NAK {"delay":9223372036854775807})");
}

TEST(nats_js_api, N4_consumer_request_always_has_the_filter) {
  const auto source = jetstream("S", "s.a").durable("d").ack_wait(2s).max_ack_pending(7);
  EXPECT_EQ(consumer_create_subject(source), "$JS.API.CONSUMER.DURABLE.CREATE.S.d");
  EXPECT_EQ(consumer_create_request(source, std::nullopt),
            R"({"stream_name":"S","config":{"durable_name":"d","deliver_policy":"all","ack_policy":"explicit",)"
            R"("ack_wait":2000000000,"filter_subject":"s.a","replay_policy":"instant","max_ack_pending":7}})");
  const jetstream ephemeral("S", "s.>");
  EXPECT_EQ(consumer_create_subject(ephemeral), "$JS.API.CONSUMER.CREATE.S");
  EXPECT_NE(consumer_create_request(ephemeral, 12).find(R"("deliver_policy":"by_start_sequence","opt_start_seq":12)"),
            std::string::npos);
  const auto timed = jetstream("S", "s").deliver(
      deliver_policy::by_start_time(std::chrono::system_clock::time_point(1700000000s + 5ms)));
  EXPECT_NE(consumer_create_request(timed, std::nullopt).find(R"("opt_start_time":"2023-11-14T22:13:20.005000000Z")"),
            std::string::npos);
}

TEST(nats_js_api, answers) {
  const auto refused = read_publish_ack(
      R"({"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"S","seq":0})", "here");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().server_code(), 10071);
  EXPECT_EQ(refused.error().server_text(), "wrong last sequence: 1");
  const auto ack = read_publish_ack(R"({"stream":"S","seq":4,"duplicate":true,"domain":"d"})", "here");
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->sequence, 4U);
  EXPECT_TRUE(ack->duplicate);
  for (const char* bad : {"", "{}", "[]", "not json", R"({"stream":"S"})"})
    EXPECT_FALSE(read_publish_ack(bad, "here"));
  EXPECT_EQ(read_consumer_response(R"({"type":"x","name":"c","config":{"a":[1,{}]}})", "here"), "c");
  EXPECT_FALSE(read_consumer_response("{}", "here"));
  EXPECT_TRUE(read_api_response(R"({"type":"x"})", "here"));
  EXPECT_EQ(read_api_response(R"({"error":{"code":404}})", "here").error().server_code(), 404);
}

TEST(nats_errors, map_to_the_common_conditions) {
  const auto is = [](errc e, millrace::errc common) { return error(make_error_code(e), "x") == common; };
  EXPECT_TRUE(is(errc::connect, millrace::errc::connect));
  EXPECT_TRUE(is(errc::publish, millrace::errc::publish));
  EXPECT_TRUE(is(errc::subscribe, millrace::errc::subscribe));
  EXPECT_TRUE(is(errc::jetstream, millrace::errc::subscribe));
  EXPECT_TRUE(is(errc::jetstream, millrace::errc::publish));
  EXPECT_FALSE(is(errc::jetstream, millrace::errc::timeout));
  EXPECT_TRUE(is(errc::request_timeout, millrace::errc::timeout));
  EXPECT_TRUE(is(errc::closed, millrace::errc::closed));
  EXPECT_TRUE(is(errc::shutdown, millrace::errc::shutdown));
  EXPECT_TRUE(is(errc::invalid_options, millrace::errc::invalid_options));
  EXPECT_TRUE(is(errc::disconnected, millrace::errc::not_connected));
}

} // namespace
} // namespace millrace::nats::detail
