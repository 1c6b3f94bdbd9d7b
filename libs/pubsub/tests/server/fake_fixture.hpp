#pragma once

#include "pubsub_client.hpp"
#include "waiting_sink.hpp"

#include <millrace/testing/pubsub.hpp>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace millrace::pubsub::test {

using testing::fake_pubsub;

/// A server, and topics and subscriptions on it: "orders" with "worker", unless a test makes its own.
class on_fake : public ::testing::Test {
 public:
  static broker at(const fake_pubsub& server) {
    broker b(project);
    b.emulator(server.address());
    return b;
  }
  void SetUp() override {
    server.create_topic(topic);
    server.create_subscription({name, topic});
  }
  /// Every millisecond, at most 10 s: for what only the server can tell.
  template <class Holds> static bool eventually(Holds holds, std::chrono::milliseconds bound = 10s) {
    const auto until = std::chrono::steady_clock::now() + bound;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(1ms); // lint: allow sleep
    }
    return true;
  }
  static result<std::unique_ptr<subscription_port>> open(client& c, const subscription& source, sink& to,
                                                         const open_options& options = {}) {
    return sync_wait(c.on().open(source, to, options));
  }
  static void stop(std::unique_ptr<subscription_port> port) { sync_wait(port->stop()); }

  fake_pubsub server;
  const std::string topic = topic_name("orders");
  const std::string name = subscription_name("worker");
};

/// Publishes side by side; every answer in the end.
class many_sends {
 public:
  explicit many_sends(client& c) : client_(c), group_(c.rt) {}
  void add(std::string topic, std::string payload, std::string key = {}) {
    answers_.push_back(std::make_unique<result<receipt>>(fail(millrace::errc::cancelled, "no answer yet")));
    group_.spawn(send(*answers_.back(), std::move(topic), std::move(payload), std::move(key)), "a publish");
  }
  const std::vector<std::unique_ptr<result<receipt>>>& wait() {
    EXPECT_TRUE(sync_wait(group_.drain(client_.rt.now() + 30s)));
    return answers_;
  }
  std::size_t accepted() {
    std::size_t n = 0;
    for (const auto& one : wait())
      n += one->has_value() ? 1 : 0;
    return n;
  }

 private:
  task<void> send(result<receipt>& to, std::string topic, std::string payload, std::string key) {
    publish::options options;
    if (!key.empty()) options.ordering_key(key);
    to = co_await send_task(client_.rt, client_.publisher, std::move(topic), std::move(payload), {}, options);
  }
  client& client_;
  task_group group_;
  std::vector<std::unique_ptr<result<receipt>>> answers_;
};

} // namespace millrace::pubsub::test
