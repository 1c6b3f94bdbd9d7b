#pragma once

#include "broker/ports.hpp"
#include "broker/subscription.hpp"
#include "protocol/uri.hpp"
#include "session/session.hpp"
#include "wire/scripted_server.hpp"

#include <millrace/rabbitmq.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace millrace::rabbitmq::testing {

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
  std::vector<std::string> told;
};

/// A publish that was started; `ended` once it is complete.
struct started_publish : completion {
  started_publish() : completion([](completion& c) noexcept { static_cast<started_publish&>(c).ended = true; }) {}
  void start(publish_port& to, runtime& rt, std::string_view destination, std::string_view text);
  /// The error's text; empty: accepted.
  [[nodiscard]] std::string failure();
  task<result<receipt>> work;
  bool ended = false;
};

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

inline task<result<receipt>> publish_text(publish_port& to, runtime& rt, std::string destination, std::string text) {
  struct awaiter {
    publish_port& to;
    outgoing message;
    publish_operation op;
    bool await_ready() {
      to.publish(message, op);
      return op.done();
    }
    bool await_suspend(std::coroutine_handle<> waiter) noexcept { return op.wait(waiter); }
    result<receipt> await_resume() noexcept { return op.take(); }
  };
  awaiter sent{to, {destination, as_bytes(text), nullptr, nullptr}, publish_operation(&rt)};
  auto answer = co_await sent;
  co_return answer;
}

inline void started_publish::start(publish_port& to, runtime& rt, std::string_view destination, std::string_view text) {
  work = publish_text(to, rt, std::string(destination), std::string(text));
  work.start(*this);
}

inline std::string started_publish::failure() {
  auto answer = work.take();
  return answer ? std::string() : answer.error().message();
}

} // namespace millrace::rabbitmq::testing
