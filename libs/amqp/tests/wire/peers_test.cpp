// What servers differ in: names, capabilities and filters on the wire.
#include "wire/rig.hpp"

#include <proton/codec.h>
#include <proton/connection.h>
#include <proton/link.h>
#include <proton/terminus.h>

namespace millrace::amqp::testing {
namespace {

strings symbols_of(pn_data_t* list) {
  strings found;
  pn_data_rewind(list);
  if (!pn_data_next(list) || !pn_data_enter(list)) return found;
  while (pn_data_next(list)) {
    const pn_bytes_t symbol = pn_data_get_symbol(list);
    found.emplace_back(symbol.start, symbol.size);
  }
  return found;
}

peer_script rabbit(const char* version) {
  peer_script script;
  script.product = "RabbitMQ";
  script.version = version;
  return script;
}

/// Attaches with the termini that it was asked for, without the filter.
void ignore_filter(pn_link_t* link) {
  pn_terminus_copy(pn_link_source(link), pn_link_remote_source(link));
  pn_data_clear(pn_terminus_filter(pn_link_source(link)));
  pn_link_open(link);
}

/// A link is known by its container and its name: the second process must not take the first one's.
TEST(amqp_peers, A3_two_processes_with_one_container_id_have_links_of_their_own) {
  detail::broker_settings replica = patient();
  replica.container_id = "orders";
  strings names;
  for (int i = 0; i < 2; ++i) {
    rig r({}, replica);
    ASSERT_TRUE(r.connect());
    recording_sink to;
    const auto open = r.open(queue("a"), to);
    ASSERT_TRUE(open);
    names.emplace_back(pn_link_name(r.peer->links.at("a")));
    EXPECT_STREQ(pn_connection_remote_container(r.peer->engine().connection()), "orders");
  }
  EXPECT_TRUE(names[0].starts_with("orders-") && names[1].starts_with("orders-")) << names[0];
  EXPECT_NE(names[0], names[1]);
}

/// ActiveMQ Classic allows one connection for each container id.
TEST(amqp_peers, A2_without_a_container_id_each_connection_has_one_of_its_own) {
  strings names;
  for (int i = 0; i < 2; ++i) {
    rig r;
    ASSERT_TRUE(r.connect());
    names.emplace_back(pn_connection_remote_container(r.peer->engine().connection()));
  }
  EXPECT_TRUE(names[0].starts_with("millrace-")) << names[0];
  EXPECT_NE(names[0], names[1]);
}

/// ActiveMQ Classic looks at the address, and says how.
TEST(amqp_peers, A3_A4_a_peer_that_announces_prefixes_gets_them) {
  peer_script classic;
  classic.product = "ActiveMQ";
  classic.queue_prefix = "queue://";
  classic.topic_prefix = "topic://";
  rig r(classic);
  ASSERT_TRUE(r.connect());
  recording_sink to;
  const auto a = r.open(topic("prices"), to);
  const auto b = r.open(queue("queue://orders"), to);
  const auto c = r.open(raw("plain"), to);
  ASSERT_TRUE(a && b && c);
  for (const char* address : {"topic://prices", "queue://orders", "plain"})
    EXPECT_TRUE(r.peer->links.contains(address)) << address;
  const auto prices = r.port(publish().to(node_kind::topic));
  sent_message one(*prices, r.rt, "quotes", "x");
  r.run();
  EXPECT_EQ(one.failure(), "");
  EXPECT_TRUE(r.peer->links.contains("topic://quotes"));
}

/// A peer answers with the filters that are in place. Without ours, everything would come.
TEST(amqp_peers, A3_a_peer_that_ignores_the_selector_is_refused) {
  peer_script careless;
  careless.on_attach = ignore_filter;
  for (const peer_script& script : {careless, rabbit("3.10.8")}) { // the latter says that it filters, and does not
    rig r(script);
    ASSERT_TRUE(r.connect());
    recording_sink to;
    const auto refused = r.open(queue("a").selector("x = 1"), to);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), amqp::errc::attach);
    EXPECT_NE(refused.error().message().find("selector"), std::string::npos) << refused.error().message();
    r.run();
    EXPECT_EQ(r.seen().back(), "1 end");
    const auto all = r.open(queue("b"), to);
    EXPECT_TRUE(all);
  }
  rig r;
  ASSERT_TRUE(r.connect());
  recording_sink to;
  EXPECT_TRUE(r.open(queue("a").selector("x = 1"), to));
}

/// RabbitMQ makes a reply queue since 4.1, for who asks by this name. 4.0 would end the session.
TEST(amqp_peers, a_reply_address_is_asked_for_as_a_temporary_queue) {
  for (const auto& [version, makes] :
       {std::pair{"3.13.7", false}, std::pair{"4.0.9", false}, std::pair{"4.1.0", true}}) {
    rig r(rabbit(version));
    ASSERT_TRUE(r.connect());
    const auto answer = r.rt.drive(r.port()->request({"prices", as_bytes("?"), nullptr, nullptr}, 1s));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error() == millrace::errc::unsupported, !makes) << answer.error().message();
    if (!makes) continue;
    pn_terminus_t* const asked = pn_link_remote_source(r.peer->links.at("(dynamic)"));
    EXPECT_EQ(symbols_of(pn_terminus_capabilities(asked)), strings{"temporary-queue"});
  }
}

/// Qpid Broker-J detaches instead of rejecting, where rejecting is not on the list.
TEST(amqp_peers, a_publisher_says_which_outcomes_it_knows) {
  rig r;
  ASSERT_TRUE(r.connect());
  const auto port = r.port();
  sent_message one(*port, r.rt, "out", "x");
  r.run();
  EXPECT_EQ(one.failure(), "");
  pn_terminus_t* const from = pn_link_remote_source(r.peer->links.at("out"));
  EXPECT_EQ(symbols_of(pn_terminus_outcomes(from)),
            (strings{"amqp:accepted:list", "amqp:rejected:list", "amqp:released:list"}));
}

} // namespace
} // namespace millrace::amqp::testing
