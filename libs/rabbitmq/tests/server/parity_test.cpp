// The in-process server beside a real one: the same frames are sent to both, and the answers are compared, texts of
// refusals included.
#include "server/live_server.hpp"
#include "server/parity_script.hpp"
#include "transport/in_process/in_process_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>

namespace millrace::rabbitmq::testing {
namespace {

using detail::method;
using play = void (*)(script& s);

std::vector<std::string> on_the_server(play scenario) {
  script s(net::make_tcp_transport(nullptr, detail::read_room), live_server::shared().url(),
           fresh_name("parity") + ".");
  scenario(s);
  return s.transcript();
}

std::vector<std::string> in_process(play scenario) {
  pool_runtime rt(1);
  script s(detail::make_in_process_transport(rt, "parity"), live_server::shared().url(), fresh_name("parity") + ".");
  scenario(s);
  return s.transcript();
}

/// Channels are independent of each other: only the order within each is the same in every run.
std::vector<std::string> by_channel(const std::vector<std::string>& lines) {
  std::multimap<int, std::string> sorted;
  for (const std::string& line : lines)
    sorted.emplace(std::atoi(line.c_str()), line);
  std::vector<std::string> all;
  for (const auto& [channel, line] : sorted)
    all.push_back(line);
  return all;
}

void expect_parity(play scenario) {
  const auto here = by_channel(in_process(scenario));
  const auto there = by_channel(on_the_server(scenario));
  EXPECT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
    EXPECT_TRUE(here[i] == there[i]) << "line " << i << "\n  in process: " << here[i] << "\n  the server: " << there[i];
  }
}

detail::queue_flags flags(bool durable, bool exclusive, bool auto_delete) {
  detail::queue_flags f;
  f.durable = durable;
  f.exclusive = exclusive;
  f.auto_delete = auto_delete;
  return f;
}

arguments arg(const char* name, auto value) { return arguments().set(name, std::move(value)); }
arguments of_type(const char* type) { return arg("x-queue-type", type); }

header_map headers(std::initializer_list<std::pair<const char*, const char*>> all) {
  header_map map;
  for (const auto& [name, value] : all)
    map.set(name, value);
  return map;
}

detail::message_properties expiring(std::string_view ms) {
  detail::message_properties p;
  p.expiration = ms;
  return p;
}

/// Declares again, each time on a channel of its own, which the refusal closes.
void differing_queues(script& s) {
  s.open(1).queue(1, "q", arg("x-message-ttl", 1000).set("x-dead-letter-exchange", ""));
  const arguments same = arg("x-message-ttl", 1000).set("x-dead-letter-exchange", "");
  s.queue(1, "q", same);
  s.open(2).queue(2, "q", flags(false, false, false), same);
  s.open(3).queue(3, "q", flags(true, false, true), same);
  s.open(4).queue(4, "q", arg("x-message-ttl", 2000).set("x-dead-letter-exchange", ""));
  s.open(5).queue(5, "q", arg("x-message-ttl", 1000));
  s.open(6).queue(6, "q", arg("x-dead-letter-exchange", ""));
  s.open(7).queue(7, "q", arguments(same).set("x-queue-type", "classic"));
  s.open(8).queue(8, "q", arguments(same).set("x-queue-type", "quorum"));
  s.open(9).queue(9, "q", arguments(same).set("x-max-length", 5));
  s.open(10).queue(10, "q", flags(true, true, false), same);
  s.open(11).queue(11, "q", arguments(same).set("x-unknown", 5));
}

void differing_kinds(script& s) {
  s.open(1).queue(1, "q", of_type("quorum").set("x-delivery-limit", 3)).queue(1, "c", of_type("classic"));
  s.open(2).queue(2, "q", of_type("quorum").set("x-delivery-limit", 4));
  s.open(3).queue(3, "q", of_type("quorum"));
  s.open(4).queue(4, "q", of_type("classic").set("x-delivery-limit", 3));
  s.open(5).queue(5, "q", arg("x-delivery-limit", 3));
  s.open(6).queue(6, "c");
  s.open(7).queue(7, "c", of_type("stream"));
}

void refused_queues(script& s) {
  std::uint16_t n = 0;
  const auto refused = [&](const arguments& args, detail::queue_flags f = flags(true, false, false)) {
    ++n;
    s.open(n).queue(n, "r" + std::to_string(n), f, args);
  };
  refused(of_type("nonsense"));
  refused(arg("x-message-ttl", -1));
  refused(arg("x-message-ttl", "soon"));
  refused(arg("x-expires", 0));
  refused(arg("x-max-length", -5));
  refused(arg("x-max-priority", 300));
  refused(arg("x-overflow", "explode"));
  refused(arg("x-dead-letter-routing-key", "k"));
  refused(arg("x-dead-letter-exchange", 5));
  refused(arg("x-single-active-consumer", "yes"));
  refused(of_type("quorum").set("x-max-priority", 5));
  refused(of_type("quorum"), flags(false, false, false));
  refused(of_type("quorum"), flags(true, true, false));
  refused(of_type("quorum"), flags(true, false, true));
  refused(of_type("stream").set("x-dead-letter-exchange", ""));
  refused(of_type("stream"), flags(false, false, false));
  refused(of_type("classic").set("x-delivery-limit", 5));
}

void exchanges(script& s) {
  s.open(1).exchange(1, "x", "direct").exchange(1, "x", "direct");
  s.open(2).exchange(2, "x", "topic");
  s.open(3).exchange(3, "x", "direct", {}, false);
  s.open(4).exchange(4, "x", "direct", arg("alternate-exchange", "y"));
  s.open(5).exchange(5, "missing", "direct", {}, true, true);
  s.open(6).look_for_queue(6, "missing");
  s.open(7).exchange(7, "other", "direct", arg("unknown", "y")).exchange(7, "other", "direct");
}

void an_unknown_exchange_type(script& s) { s.open(1).exchange(1, "x", "nonsense"); }

void reserved_names(script& s) {
  s.open(1).send(1, 1, [](std::string& out) { detail::append_queue_declare(out, "amq.mine", {}, {}); });
  s.open(2).send(
      2, 1, [](std::string& out) { detail::append_exchange_declare(out, exchange_spec::direct("amq.mine"), false); });
  s.open(3).send(3, 1,
                 [](std::string& out) { detail::append_exchange_declare(out, exchange_spec::direct(""), false); });
  s.open(4).send(
      4, 1, [](std::string& out) { detail::append_exchange_declare(out, exchange_spec::direct("amq.direct"), false); });
  s.open(5).queue(5, "q").send(5, 1, [&](std::string& out) { detail::append_queue_bind(out, s.at("q"), "", "k", {}); });
}

void bindings(script& s) {
  s.open(1).queue(1, "q").exchange(1, "x", "topic").bind(1, "q", "x", "a.#").bind(1, "q", "x", "a.#");
  s.open(2).bind(2, "missing", "x", "k");
  s.open(3).bind(3, "q", "missing", "k");
  s.open(4).exchange(4, "hash", "x-consistent-hash").bind(4, "q", "hash", "heavy");
  s.open(5).exchange(5, "heads", "headers").bind(5, "q", "heads", "", arg("x-match", "some"));
}

void consumers(script& s) {
  s.open(1).queue(1, "q").queue(1, "quorum", of_type("quorum"));
  s.open(2).consume(2, "missing");
  detail::consume_flags alone;
  alone.exclusive = true;
  s.open(3).consume(3, "q", 1, alone);
  s.open(4).consume(4, "q");
  s.open(5).consume(5, "quorum").consume(5, "quorum");
  s.open(6).consume(6, "quorum", 1, alone);
  s.open(7).consume(7, "amq.rabbitmq.reply-to");
  s.open(8).ack(8, 1, 1);
  s.open(9).plain(9, method::tx_commit);
  s.open(10).confirms(10).plain(10, method::tx_select);
  s.open(11).plain(11, method::tx_select).confirms(11);
}

void publishes(script& s) {
  s.open(1).publish(1, "missing", "k", "x", 1);
  s.open(2).confirms(2).publish(2, "", "nowhere", "lost", 2).publish(2, "", "nowhere", "quiet", 1, {}, false);
  s.open(3).publish(3, "", "nowhere", "x", 1, expiring("soon"));
  s.open(4).publish(4, "", "nowhere", "x", 1, expiring("-1"));
  s.open(5).queue(5, "q").confirms(5).publish(5, "", "q", "x", 1, expiring("99999999999"));
  detail::message_properties asking;
  asking.reply_to = "amq.rabbitmq.reply-to";
  s.open(6).publish(6, "", "nowhere", "x", 1, asking);
}

void settlements(script& s) {
  s.open(1).queue(1, "q").confirms(1);
  for (const char* text : {"a", "b", "c", "d"})
    s.publish(1, "", "q", text, 1);
  s.open(2).prefetch(2, 2).consume(2, "q", 3);
  s.ack(2, 1, 1).reject(2, 3, true, 1); // a, then c comes back at once
  s.close(2).look_for_queue(1, "q");
  s.open(3).consume(3, "q", 4).ack(3, 2).ack(3, 2, 1);
}

void a_quorum_queue_counts(script& s) {
  s.open(1).queue(1, "dead").confirms(1);
  s.queue(1, "q",
          of_type("quorum")
              .set("x-delivery-limit", 2)
              .set("x-dead-letter-exchange", "")
              .set("x-dead-letter-routing-key", s.at("dead")));
  s.publish(1, "", "q", "spent", 1);
  s.open(2).prefetch(2, 1).consume(2, "q", 2).reject(2, 1, true, 1).reject(2, 2, true, 1).reject(2, 3, true);
  s.open(3).consume(3, "dead", 2).ack(3, 1);
  s.publish(1, "", "q", "closed", 1).expect(1).close(2);
  s.open(4).consume(4, "q", 2).reject(4, 1, false).expect(1);
}

void dead_letters(script& s) {
  s.open(1).exchange(1, "graves", "fanout").queue(1, "dead").bind(1, "dead", "graves", "").confirms(1);
  s.queue(1, "q", arg("x-dead-letter-exchange", s.at("graves")).set("x-dead-letter-routing-key", "why"));
  const header_map own = headers({{"color", "red"}, {"correlation-id", "7"}});
  detail::message_properties p;
  (void)p.take(own);
  s.publish(1, "", "q", "rejected", 1, p);
  p.expiration = "1";
  s.open(2).consume(2, "q", 2).reject(2, 1, false);
  s.open(3).consume(3, "dead", 2);
  s.close(2).publish(1, "", "q", "expired", 1, p).expect(1);
  // what was dead already dies again
  s.queue(1, "short", arg("x-dead-letter-exchange", s.at("graves")).set("x-max-length", 1));
  s.publish(1, "", "short", "one", 1).publish(1, "", "short", "two", 1).expect(1);
}

void a_waiting_queue(script& s) {
  s.open(1).queue(1, "q").confirms(1);
  s.queue(1, "wait", arg("x-dead-letter-exchange", "").set("x-dead-letter-routing-key", s.at("q")));
  s.open(2).consume(2, "q", 1);
  s.publish(1, "", "wait", "slow", 1, expiring("300")).publish(1, "", "wait", "quick", 1, expiring("1")).expect(2);
}

void a_circle_is_cut(script& s) {
  s.open(1).confirms(1).exchange(1, "graves", "fanout").queue(1, "seen").bind(1, "seen", "graves", "");
  s.queue(1, "q", arg("x-dead-letter-exchange", s.at("graves")).set("x-message-ttl", 1)).bind(1, "q", "graves", "");
  s.open(2).consume(2, "seen").publish(1, "", "q", "round", 2).look_for_queue(1, "q");
}

void full_queues(script& s) {
  s.open(1).confirms(1);
  s.queue(1, "q", arg("x-max-length", 2).set("x-overflow", "reject-publish"));
  for (const char* text : {"one", "two", "three"})
    s.publish(1, "", "q", text, 1);
  s.open(2).consume(2, "q", 3);
  s.publish(1, "", "q", "four", 1).expect(1);
  s.queue(1, "d", arg("x-max-length", 2)).publish(1, "", "d", "a", 1).publish(1, "", "d", "b", 1);
  s.publish(1, "", "d", "c", 1).open(3).consume(3, "d", 3);
}

void priorities(script& s) {
  s.open(1).confirms(1).queue(1, "q", arg("x-max-priority", 5));
  for (const int level : {1, 9, 5, 0}) {
    detail::message_properties p;
    p.priority = level;
    s.publish(1, "", "q", std::to_string(level), 1, p);
  }
  s.open(2).consume(2, "q", 5);
}

void one_consumer_at_a_time(script& s) {
  s.open(1).confirms(1).queue(1, "q", arg("x-single-active-consumer", true));
  s.open(2).consume(2, "q").open(3).consume(3, "q");
  s.publish(1, "", "q", "a", 2).publish(1, "", "q", "b", 2).close(2).expect(2);
}

void consumers_take_turns(script& s) {
  s.open(1).confirms(1).queue(1, "q");
  s.open(2).prefetch(2, 1).consume(2, "q").open(3).prefetch(3, 1).consume(3, "q");
  s.publish(1, "", "q", "a", 2).publish(1, "", "q", "b", 2).publish(1, "", "q", "c", 1).ack(3, 1, 1);
}

void consumer_priority(script& s) {
  s.open(1).confirms(1).queue(1, "q");
  s.open(2).prefetch(2, 1).consume(2, "q");
  s.open(3).prefetch(3, 1).consume(3, "q", 1, {}, arg("x-priority", 5));
  s.publish(1, "", "q", "a", 2).publish(1, "", "q", "b", 2);
}

void topics(script& s) {
  s.open(1).confirms(1);
  for (const char* pattern : {"#", "*", "a.#", "a.*", "*.b", "a.#.c", "#.c", "a.#.#", "#.*"}) {
    const std::string x = std::string("x.") + pattern;
    s.exchange(1, x, "topic").queue(1, x).bind(1, x, x, pattern);
    for (const char* key : {"", "a", "a.b", "a.b.c", "a.c", "b", "a..c", ".", "a.b.c.d.e"})
      s.publish(1, x, key, "m", 1, {}, false);
    s.look_for_queue(1, x);
  }
}

void headers_exchange(script& s) {
  s.open(1).confirms(1).exchange(1, "x", "headers");
  s.queue(1, "all").bind(1, "all", "x", "", arg("x-match", "all").set("a", "1").set("b", "2"));
  s.queue(1, "any").bind(1, "any", "x", "", arg("x-match", "any").set("a", "1").set("b", "2"));
  s.queue(1, "none").bind(1, "none", "x", "");
  const header_map sets[] = {headers({{"a", "1"}}), headers({{"a", "1"}, {"b", "2"}}), headers({{"a", "2"}}),
                             headers({{"c", "1"}})};
  for (const header_map& set : sets) {
    detail::message_properties p;
    (void)p.take(set);
    s.publish(1, "x", "k", "m", 1, p);
  }
  s.look_for_queue(1, "all").look_for_queue(1, "any").look_for_queue(1, "none");
}

void an_alternate_exchange(script& s) {
  s.open(1).confirms(1).exchange(1, "rest", "fanout").queue(1, "q").bind(1, "q", "rest", "");
  s.exchange(1, "x", "direct", arg("alternate-exchange", s.at("rest"))).publish(1, "x", "nobody", "m", 1);
  s.open(2).consume(2, "q", 2);
}

void server_transactions(script& s) {
  s.open(1).queue(1, "q").plain(1, method::tx_select);
  s.publish(1, "", "q", "rolled back", 0).plain(1, method::tx_rollback).look_for_queue(1, "q");
  s.publish(1, "", "q", "a", 0).publish(1, "", "nowhere", "b", 0).plain(1, method::tx_commit).expect(1);
  s.look_for_queue(1, "q");
  s.open(2).plain(2, method::tx_select).consume(2, "q", 2).ack(2, 1).plain(2, method::tx_rollback);
  s.close(2).open(3).consume(3, "q", 2);
}

void direct_replies(script& s) {
  detail::consume_flags no_ack;
  no_ack.no_ack = true;
  s.open(1).consume(1, "amq.rabbitmq.reply-to", 1, no_ack).queue(1, "q");
  detail::message_properties p;
  p.reply_to = "amq.rabbitmq.reply-to";
  p.correlation_id = "7";
  s.open(2).consume(2, "q").publish(1, "", "q", "how much?", 1, p);
  s.open(3).confirms(3).send(3, 2, [](std::string& out) {
    detail::append_publish(out, 0, "", "amq.rabbitmq.reply-to.nobody", true, {}, {}, detail::largest_frame);
  });
}

void what_goes_by_itself(script& s) {
  s.open(1).queue(1, "q", flags(false, false, true), {});
  s.open(2).consume(2, "q").close(2);
  s.look_for_queue(1, "q");
  s.open(3).queue(3, "alone", flags(false, true, false), {});
  s.queue(3, "alone", flags(false, true, false), {});
}

void streams(script& s) {
  s.open(1).confirms(1).queue(1, "q", of_type("stream"));
  s.publish(1, "", "q", "a", 1).publish(1, "", "q", "b", 1);
  s.open(2).consume(2, "q");
  s.open(3).prefetch(3, 10).consume(3, "q", 3, {}, arg("x-stream-offset", "first"));
  s.open(4).prefetch(4, 10).consume(4, "q", 2, {}, arg("x-stream-offset", 1));
  s.open(5).prefetch(5, 10).consume(5, "q").publish(1, "", "q", "c", 1).expect(3);
}

void a_stream_refuses(script& s) {
  s.open(1).confirms(1).queue(1, "q", of_type("stream")).publish(1, "", "q", "a", 1);
  s.open(2).prefetch(2, 10).consume(2, "q", 2, {}, arg("x-stream-offset", "first")).reject(2, 1, false, 1);
}

void a_stream_refuses_a_requeue(script& s) {
  s.open(1).confirms(1).queue(1, "q", of_type("stream")).publish(1, "", "q", "a", 1);
  s.open(2).prefetch(2, 10).consume(2, "q", 2, {}, arg("x-stream-offset", "first")).reject(2, 1, true, 1);
}

void a_message_too_large(script& s) {
  s.open(1).confirms(1).queue(1, "q");
  s.publish(1, "", "q", std::string(16UL * 1024 * 1024 + 1, 'x'), 1);
}

struct scenario {
  const char* name;
  play run;
};
/// For the names of the tests.
void PrintTo(const scenario& of, std::ostream* to) // NOLINT(readability-identifier-naming): gtest finds it by this name
{
  *to << of.name;
}

class rabbitmq_parity : public ::testing::TestWithParam<scenario> {};

/// The in-process mode answers as a server does: it never succeeds where the server refuses.
TEST_P(rabbitmq_parity, both_answer_the_same) { expect_parity(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(
    of, rabbitmq_parity,
    ::testing::Values(
        scenario{"differing_queues", differing_queues}, scenario{"differing_kinds", differing_kinds},
        scenario{"refused_queues", refused_queues}, scenario{"exchanges", exchanges},
        scenario{"an_unknown_exchange_type", an_unknown_exchange_type}, scenario{"reserved_names", reserved_names},
        scenario{"bindings", bindings}, scenario{"consumers", consumers}, scenario{"publishes", publishes},
        scenario{"settlements", settlements}, scenario{"a_quorum_queue_counts", a_quorum_queue_counts},
        scenario{"dead_letters", dead_letters}, scenario{"a_waiting_queue", a_waiting_queue},
        scenario{"a_circle_is_cut", a_circle_is_cut}, scenario{"full_queues", full_queues},
        scenario{"priorities", priorities}, scenario{"one_consumer_at_a_time", one_consumer_at_a_time},
        scenario{"consumers_take_turns", consumers_take_turns}, scenario{"consumer_priority", consumer_priority},
        scenario{"topics", topics}, scenario{"headers_exchange", headers_exchange},
        scenario{"an_alternate_exchange", an_alternate_exchange}, scenario{"server_transactions", server_transactions},
        scenario{"direct_replies", direct_replies}, scenario{"what_goes_by_itself", what_goes_by_itself},
        scenario{"streams", streams}, scenario{"a_stream_refuses", a_stream_refuses},
        scenario{"a_stream_refuses_a_requeue", a_stream_refuses_a_requeue},
        scenario{"a_message_too_large", a_message_too_large}),
    [](const auto& at) { return std::string(at.param.name); });

} // namespace
} // namespace millrace::rabbitmq::testing
