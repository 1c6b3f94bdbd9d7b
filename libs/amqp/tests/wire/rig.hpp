#pragma once

#include "broker/ports.hpp"
#include "broker/subscription.hpp"
#include "protocol/url.hpp"
#include "session/connection.hpp"
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

/// Keeps what a subscription was told.
class recording_sink final : public sink {
 public:
  ~recording_sink() { held.release_all(); }
  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override { held.append(std::move(batch)); }
  void interrupted(error why) noexcept override { told.push_back("interrupted: " + why.message()); }
  void resumed() noexcept override { told.emplace_back("resumed"); }
  void ended(error why) noexcept override { told.push_back("ended: " + why.message()); }
  void dropped(std::uint64_t /*count*/) noexcept override {}
  incoming_batch held;
  strings told;
};

/// A publish that was started.
struct started_publish {
  started_publish(publish_port& to, runtime& rt, std::string_view destination, std::string_view text) : op(&rt) {
    to.publish({destination, as_bytes(text), nullptr, nullptr}, op);
  }
  publish_operation op;
  [[nodiscard]] bool ended() const { return op.done(); }
  /// The error's text; empty: accepted. Once.
  [[nodiscard]] std::string failure() {
    if (!op.done()) return "(under way)";
    auto answer = op.take();
    return answer ? std::string() : answer.error().message();
  }
};

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
    io = detail::make_memory_transport(rt, [this](const detail::endpoint& at) -> std::unique_ptr<detail::memory_peer> {
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
  std::shared_ptr<detail::transport> io;
  std::shared_ptr<detail::hub> hub;
  std::shared_ptr<detail::connection> connection;
};

} // namespace millrace::amqp::testing
