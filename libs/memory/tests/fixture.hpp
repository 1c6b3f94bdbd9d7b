#pragma once

#include "support/log_capture.hpp"

#include <millrace/event.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/receiver.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memory_test {

using namespace millrace;
using namespace std::chrono_literals;
using millrace::test_support::log_capture;
using millrace::testing::virtual_runtime;
using texts = std::vector<std::string>;

using memory_publisher = publisher<memory::publish>;

inline task<result<receipt>> send(memory_publisher to, std::string topic, std::string payload, header_map headers) {
  co_return co_await to.text(payload).to(topic).headers(headers);
}
inline task<result<reply_message>> ask(memory_publisher to, std::string topic, std::string payload, duration bound) {
  co_return co_await to.text(payload).to(topic).request(bound);
}

/// A service on one embedded broker and the virtual clock.
struct service_on_memory : ::testing::Test {
  explicit service_on_memory(memory::broker configured = memory::broker{})
      : on(app.with_broker(std::move(configured))) {}

  virtual_runtime rt;
  log_capture log;
  service<> app{service_info{"test"}};
  scope<memory::broker, void> on;
  memory_publisher pub = on.publisher();
  std::optional<service_run> run;

  result<void> try_start() {
    run.emplace(app.core(), rt);
    return rt.drive(run->start(connect_mode::in_process));
  }
  void start() {
    const auto started = try_start();
    ASSERT_TRUE(started) << started.error().message();
  }
  result<void> stop() { return rt.drive(run->shutdown()); }
  void react() { ASSERT_TRUE(rt.run()); }
  void advance(duration d) { ASSERT_TRUE(rt.advance(d)); }

  /// Publishes without letting anything react.
  result<receipt> enqueue(std::string topic, std::string payload, header_map headers = {}) {
    return rt.drive(send(pub, std::move(topic), std::move(payload), std::move(headers)));
  }
  void publish(std::string topic, std::string payload, header_map headers = {}) {
    const auto sent = enqueue(std::move(topic), std::move(payload), std::move(headers));
    ASSERT_TRUE(sent) << sent.error().message();
    react();
  }
  /// A subscription that keeps the payloads it gets.
  registration& collect(memory::topic source, texts& into) {
    return on.subscribe(std::move(source), [&into](bytes_view payload) { into.emplace_back(as_text(payload)); });
  }
};

inline header_map headers_of(std::string_view name, std::string_view value) {
  header_map h;
  h.set(name, value);
  return h;
}

/// The broker itself, without a service.
struct bare_broker : ::testing::Test {
  virtual_runtime rt;
  std::optional<memory::connected_broker> connected;
  std::shared_ptr<publish_port> port;

  void connect(memory::broker configured = memory::broker{}) {
    auto made = rt.drive(std::move(configured).connect(rt));
    ASSERT_TRUE(made) << made.error().message();
    connected.emplace(std::move(*made));
    port = *connected->pair(memory::publish{});
  }
  std::unique_ptr<receiver> receive(memory::topic source) {
    auto opened = rt.drive(open_receiver(rt, *connected, std::move(source)));
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(*opened);
  }
  result<receipt> publish(std::string_view topic, std::string_view payload) {
    publish_operation op(&rt);
    port->publish({topic, as_bytes(payload)}, op);
    EXPECT_TRUE(op.done());
    return op.take();
  }
  std::optional<delivery> next(receiver& from) {
    auto got = rt.drive(from.next(0s));
    if (!got) return std::nullopt;
    return std::move(*got);
  }
  memory::closed_broker shutdown() {
    auto closed = rt.drive(std::move(*connected).shutdown());
    EXPECT_TRUE(closed);
    return *closed;
  }
};

} // namespace memory_test
