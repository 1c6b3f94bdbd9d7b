#pragma once

#include "broker/ports.hpp"
#include "broker/subscription.hpp"
#include "protocol/uri.hpp"
#include "session/session.hpp"
#include "support/recording_sink.hpp"
#include "support/sent_message.hpp"
#include "wire/scripted_server.hpp"

#include <millrace/rabbitmq.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace millrace::rabbitmq::testing {

using test_support::recording_sink;
using test_support::sent_message;

/// A connected broker on the virtual clock, and the scripted server that it talks to.
struct rig {
  explicit rig(detail::broker_settings s = {}, std::string uri = "amqp://user:secret@one,two/shop")
      : server(std::make_shared<scripted_server>(rt)), settings(std::move(s)), address(std::move(uri)) {}

  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;
  /// What is still queued belongs to nobody else.
  ~rig() {
    session.reset();
    (void)rt.run();
  }

  result<void> connect();
  open_result open(const detail::queue_spec& queue, sink& to, open_options options = {});
  bool shutdown();
  void run() { EXPECT_TRUE(rt.run()); }
  void advance(duration d) { EXPECT_TRUE(rt.advance(d)); }
  /// What the server saw since the last call.
  std::vector<std::string> seen() { return std::exchange(server->seen, {}); }

  millrace::testing::virtual_runtime rt;
  std::shared_ptr<scripted_server> server;
  detail::broker_settings settings;
  std::string address;
  std::shared_ptr<detail::link> link;
  std::shared_ptr<detail::session> session;
};

inline result<void> rig::connect() {
  auto to = detail::parse_uri(address);
  if (!to) return fail(std::move(to).error());
  link = std::make_shared<detail::link>(rt, settings, server);
  session = std::make_shared<detail::session>(link, server, std::move(*to));
  return rt.drive(session->connect());
}

inline open_result rig::open(const detail::queue_spec& queue, sink& to, open_options options) {
  if (options.subscription.empty()) options.subscription = "sub";
  return rt.drive(detail::open_subscription(link, queue, to, std::move(options)));
}

inline bool rig::shutdown() { return rt.drive(session->shutdown()); }

} // namespace millrace::rabbitmq::testing
