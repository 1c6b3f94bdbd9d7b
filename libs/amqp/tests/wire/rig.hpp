#pragma once

#include "broker/ports.hpp"
#include "broker/subscription.hpp"
#include "protocol/url.hpp"
#include "session/connection.hpp"
#include "support/recording_sink.hpp"
#include "support/sent_message.hpp"
#include "wire/scripted_peer.hpp"

#include <millrace/amqp.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millrace::amqp::testing {

using namespace std::chrono_literals;
using strings = std::vector<std::string>;
using test_support::recording_sink;
using test_support::sent_message;

/// Without idle timeouts: a peer in a test is silent for as long as it likes.
inline detail::broker_settings patient() {
  detail::broker_settings settings;
  settings.idle_timeout = duration::zero();
  settings.close_timeout = 5s;
  return settings;
}

/// A connection on the virtual clock, and the scripted peer that it talks to.
struct rig {
  explicit rig(peer_script s = {}, detail::broker_settings settings = patient(), std::string url = "amqp://one,two")
      : script(std::move(s)), options(std::move(settings)), address(std::move(url)) {}
  /// What was posted is kept until it has run.
  ~rig() { (void)rt.run(); }
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;

  result<void> connect() {
    auto to = detail::parse_url(address);
    if (!to) return fail(std::move(to).error());
    io = detail::make_memory_transport(rt, [this](const net::endpoint& at) -> std::unique_ptr<detail::memory_peer> {
      dialled.push_back(at.host);
      if (nobody_there) return nullptr;
      auto made = std::make_unique<scripted_peer>(script, seen_frames);
      peer = made.get();
      return made;
    });
    hub = std::make_shared<detail::hub>(rt, options, io);
    connection = std::make_shared<detail::connection>(hub, io, std::move(*to));
    return rt.drive(connection->connect());
  }
  template <class Source> open_result open(const Source& source, sink& to) {
    return rt.drive(detail::open_subscription(hub, source.spec(), to));
  }
  std::shared_ptr<publish_port> port(const publish& policy = {}) { return *connected_broker(connection).pair(policy); }
  result<bool> shutdown() { return rt.drive(connection->shutdown()); }
  /// Lets the peer say what the test told it to, and everything that follows.
  void run() {
    io->wake();
    EXPECT_TRUE(rt.run());
  }
  void advance(duration d) { EXPECT_TRUE(rt.advance(d)); }
  /// The frames since the last call.
  strings seen() { return std::exchange(seen_frames, {}); }

  millrace::testing::virtual_runtime rt;
  peer_script script;
  detail::broker_settings options;
  std::string address;
  strings seen_frames;
  strings dialled;
  bool nobody_there = false;
  scripted_peer* peer = nullptr;
  std::shared_ptr<net::transport> io;
  std::shared_ptr<detail::hub> hub;
  std::shared_ptr<detail::connection> connection;
};

} // namespace millrace::amqp::testing
