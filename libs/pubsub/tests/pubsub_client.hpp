#pragma once

#include "support/sent_message.hpp"
#include "support/value_of.hpp"

#include <millrace/pool_runtime.hpp>
#include <millrace/pubsub.hpp>
#include <millrace/receiver.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace millrace::pubsub::test {

using namespace std::chrono_literals;
using test_support::value_of;

inline constexpr const char* project = "test-project";
inline std::string topic_name(const std::string& id) { return std::string("projects/") + project + "/topics/" + id; }
inline std::string subscription_name(const std::string& id) {
  return std::string("projects/") + project + "/subscriptions/" + id;
}

inline task<result<receipt>> send_task(runtime& rt, std::shared_ptr<publish_port> port, std::string topic,
                                       std::string payload, header_map headers, publish::options options) {
  outgoing m;
  m.destination = topic;
  m.payload = as_bytes(payload);
  m.headers = &headers;
  m.options = &options;
  test_support::sent_message sent(*port, rt, m);
  auto answer = co_await sent;
  co_return answer;
}

/// A connection of its own, with two threads, as a test without a service uses it.
class client {
 public:
  enum class mode : std::uint8_t { live, in_process };
  explicit client(broker b, mode how = mode::live)
      : rt(2), connected_(value_of(
                   sync_wait(how == mode::live ? std::move(b).connect(rt) : std::move(b).connect_in_process(rt)))) {
    publisher = value_of(connected_->pair(publish{}));
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() {
    if (!connected_) return;
    [[maybe_unused]] const auto closed = shutdown();
  }

  [[nodiscard]] connected_broker& on() { return *connected_; }
  result<void> shutdown() {
    connected_broker last = std::move(*connected_);
    connected_.reset();
    auto closed = sync_wait(std::move(last).shutdown());
    if (!closed) return fail(std::move(closed.error()));
    return {};
  }

  /// As a process that dies: nothing is flushed.
  void drop() { connected_.reset(); }

  result<receipt> send(const std::string& topic, const std::string& payload, const std::string& key = {},
                       const header_map& headers = {}) {
    publish::options options;
    if (!key.empty()) options.ordering_key(key);
    return sync_wait(send_task(rt, publisher, topic, payload, headers, options));
  }

  std::unique_ptr<receiver> open(const subscription& source) {
    return value_of(sync_wait(open_receiver(rt, on(), source)));
  }
  result<std::unique_ptr<receiver>> try_open(const subscription& source) {
    return sync_wait(open_receiver(rt, on(), source));
  }
  delivery next(receiver& from, duration bound = 10s) { return value_of(sync_wait(from.next(bound))); }
  bool nothing(receiver& from, duration bound) {
    return sync_wait(from.next(bound)).error() == millrace::errc::timeout;
  }

  pool_runtime rt;
  std::shared_ptr<publish_port> publisher;

 private:
  std::optional<connected_broker> connected_;
};

} // namespace millrace::pubsub::test
