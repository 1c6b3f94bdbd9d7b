// RabbitMQ 3.10 with its amqp1_0 plugin: a server of another project, always there. What it cannot do is on Artemis.
#include "support/client.hpp"
#include "support/cut_everywhere.hpp"
#include "support/gate.hpp"
#include "support/live_server.hpp"

#include <millrace/testing/conformance_gtest.hpp>

#include <gtest/gtest.h>

#include <deque>

namespace millrace::amqp::testing {
namespace {

namespace conformance = millrace::testing::conformance;

live_server& server() {
  static live_server one("rabbitmq");
  return one;
}

std::string fresh_queue(const std::string& prefix) { return "/queue/" + fresh_name(prefix); }

/// A2, A3, A4, A5: connect, subscribe, publish, settle, shut down.
TEST(amqp_rabbitmq, A2_A3_A5_a_message_goes_round) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  EXPECT_TRUE((*c).peer().starts_with("RabbitMQ 3."));
  const std::string address = fresh_queue("round");
  waiting_sink to;
  auto open = c.open(raw(address), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto port = c.pair(publish());
  header_map headers;
  headers.set("content-type", "text/plain");
  headers.set("correlation-id", "c-1");
  headers.set("partition-key", "k");
  headers.set("x-own", "value");
  const auto sent = c.send(*port, address, "hello", &headers);
  ASSERT_TRUE(sent) << sent.error().message();
  incoming* const m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(text_of(m), "hello");
  EXPECT_EQ(m->headers().get("content-type"), "text/plain");
  EXPECT_EQ(m->headers().get("correlation-id"), "c-1");
  EXPECT_EQ(m->headers().get("x-own"), "value");
  EXPECT_EQ(m->partition_key(), "k");
  EXPECT_EQ(m->delivery_count(), 0U); // this server keeps no count
  EXPECT_TRUE(settle(m));
  open->reset();
  const auto closed = c.shutdown();
  ASSERT_TRUE(closed) << closed.error().message();
  EXPECT_TRUE(closed->orderly());
}

/// Scenario 32.
TEST(amqp_rabbitmq, A2_a_wrong_password_is_refused_and_not_shown) {
  std::string url = server().url();
  url.replace(url.find("guest:guest"), 11, "guest:hunter2");
  client c{broker(url)};
  ASSERT_FALSE(c.connected());
  EXPECT_EQ(c.failure(), millrace::errc::connect);
  EXPECT_NE(c.failure().message().find("SASL"), std::string::npos) << c.failure().message();
  EXPECT_EQ(c.failure().message().find("hunter2"), std::string::npos);
}

/// Scenario 17: more than a frame, both ways.
TEST(amqp_rabbitmq, a_megabyte_goes_round) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  const std::string address = fresh_queue("large");
  waiting_sink to;
  const auto open = c.open(raw(address), to);
  ASSERT_TRUE(open);
  const auto port = c.pair(publish());
  std::string large(1'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 7)
    large[i] = static_cast<char>(i);
  ASSERT_TRUE(c.send(*port, address, large));
  incoming* const m = to.next();
  EXPECT_EQ(text_of(m), large);
  EXPECT_TRUE(settle(m));
}

/// The server ends the whole session where a node is missing: the subscription names it, the publishers go on.
TEST(amqp_rabbitmq, A3_a_missing_exchange_is_an_attach_error_and_publishers_go_on) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  waiting_sink to;
  const auto open = c.open(raw("/exchange/" + fresh_name("none") + "/key"), to);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error(), amqp::errc::attach);
  EXPECT_NE(open.error().message().find("/exchange/"), std::string::npos);
  const std::string address = fresh_queue("alive");
  const auto fine = c.open(raw(address), to);
  ASSERT_TRUE(fine);
  const auto port = c.pair(publish());
  const auto bad = c.send(*port, "/exchange/" + fresh_name("none") + "/key", "x");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), millrace::errc::publish) << bad.error().message();
  const auto sent = c.send(*port, address, "still here");
  ASSERT_TRUE(sent) << sent.error().message();
  EXPECT_TRUE(settle(to.next()));
}

/// Scenarios 7, 8: this server sends more than the credit when credit and deliveries cross; that is no loss of the
/// link.
TEST(amqp_rabbitmq, a_small_window_does_not_stall_and_costs_no_link) {
  constexpr int messages = 3000;
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  const std::string address = fresh_queue("window");
  const auto port = c.pair(publish().durable(false));
  std::deque<sent_message> sent;
  for (int i = 0; i < messages; ++i)
    sent.emplace_back(*port, c.rt, outgoing{address, as_bytes("m"), nullptr, nullptr});
  for (sent_message& s : sent)
    ASSERT_TRUE(s.answer());
  waiting_sink to;
  const auto open = c.open(raw(address).credit(8), to);
  ASSERT_TRUE(open);
  for (int i = 0; i < messages; ++i)
    ASSERT_TRUE(settle(to.next())) << i;
  EXPECT_EQ(to.notes().size(), 0U);
}

/// The plugin would answer that it filters, and deliver everything.
TEST(amqp_rabbitmq, A3_a_selector_is_refused) {
  client c(broker(server().url()));
  ASSERT_TRUE(c.connected());
  waiting_sink to;
  const auto open = c.open(raw(fresh_queue("selected")).selector("region = 'eu'"), to);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error(), amqp::errc::attach);
  EXPECT_NE(open.error().message().find("selector"), std::string::npos) << open.error().message();
}

/// Scenarios 12, 24: a cut connection is told, restored, and what was not settled comes again; the old one answers
/// errors.
TEST(amqp_rabbitmq, a_cut_connection_is_restored_and_nothing_is_lost) {
  gate between(server().port());
  client c(broker(at_port(server().url(), between.port())));
  ASSERT_TRUE(c.connected());
  const std::string address = fresh_queue("cut");
  waiting_sink to;
  const auto open = c.open(raw(address), to);
  ASSERT_TRUE(open);
  const auto port = c.pair(publish());
  ASSERT_TRUE(c.send(*port, address, "kept"));
  incoming* const held = to.next();
  ASSERT_NE(held, nullptr);
  between.cut();
  ASSERT_TRUE(to.told("interrupted"));
  EXPECT_EQ(held->settle({}).error(), millrace::errc::closed);
  held->release();
  ASSERT_TRUE(to.told("resumed"));
  incoming* const again = to.next();
  EXPECT_EQ(text_of(again), "kept");
  EXPECT_TRUE(settle(again));
  ASSERT_TRUE(c.send(*port, address, "after"));
  EXPECT_EQ(taken_text(to.next()), "after");
}

TEST(amqp_rabbitmq, a_cut_at_every_step_loses_nothing_that_was_accepted) {
  cut_everywhere(server().url(), [](const std::string& name) { return "/queue/" + name; }).run(24);
}

/// Scenario 12: a network that swallows everything; an error within the bound, and the shutdown ends too.
TEST(amqp_rabbitmq, a_silent_network_bounds_publish_and_shutdown) {
  gate between(server().port());
  client c(broker(at_port(server().url(), between.port())).publish_timeout(300ms).close_timeout(400ms));
  ASSERT_TRUE(c.connected());
  const auto port = c.pair(publish());
  between.hold();
  const auto sent = c.send(*port, fresh_queue("silent"), "x");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), millrace::errc::timeout);
  const auto closed = c.shutdown();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error(), amqp::errc::detach);
}

conformance::kit_ptr kit() {
  return conformance::kit_of<broker>({
      .name = "amqp_rabbitmq",
      .mode = conformance::run_mode::live,
      .can = {.settles = true,
              .requeues = true,
              .redelivers_unsettled = true,
              .groups = true,
              .shared = true,
              .stores = true},
      .make = [] { return broker(server().url()); },
      .source = [](const std::string& name) { return raw("/queue/" + name); },
      .destination = [](const std::string& name) { return "/queue/" + name; },
      .at = [](const std::string& host_port) { return broker("amqp://" + host_port); },
      .refused = [](const std::string& name) { return raw("/exchange/" + name + "/key"); },
      .quiet = 200ms,
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({kit()});

} // namespace
} // namespace millrace::amqp::testing
