#pragma once

#include "run_task.hpp"
#include "test_sink.hpp"

#include <millrace/nats.hpp>
#include <millrace/pool_runtime.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace millrace::nats::test {

using namespace std::chrono_literals;

template <class T> T value_of(result<T> r) {
  if (!r) throw std::runtime_error(r.error().message());
  return std::move(*r);
}

inline connected_broker connect(runtime& rt, const std::string& url, connect_options options = {}) {
  broker b(url);
  b.with_options(std::move(options));
  return value_of(run(std::move(b).connect(rt)));
}

template <class Source>
std::unique_ptr<subscription_port> open(connected_broker& on, const Source& source, sink& to, unsigned workers = 1) {
  open_options options;
  options.subscription = "test";
  options.workers = workers;
  return value_of(run(on.open(source, to, options)));
}

/// The awaiting side of a publish.
class awaited_publish {
 public:
  awaited_publish(publish_port& port, const outgoing& message, publish_operation& op) noexcept
      : port_(port), message_(message), op_(op) {}
  [[nodiscard]] bool await_ready() const noexcept {
    port_.publish(message_, op_);
    return op_.done();
  }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return op_.wait(waiter); }
  [[nodiscard]] result<receipt> await_resume() noexcept { return op_.take(); }

 private:
  publish_port& port_;
  const outgoing& message_;
  publish_operation& op_;
};

inline task<result<receipt>> publish_task(runtime& rt, publish_port& port, outgoing message) {
  publish_operation op(&rt);
  awaited_publish awaited(port, message, op);
  result<receipt> answer = co_await awaited;
  co_return answer;
}

inline result<receipt> send(runtime& rt, publish_port& port, std::string_view subject, std::string_view payload,
                            const header_map* headers = nullptr, const void* options = nullptr) {
  outgoing m;
  m.destination = subject;
  m.payload = as_bytes(payload);
  m.headers = headers;
  m.options = options;
  return run(publish_task(rt, port, m));
}

} // namespace millrace::nats::test
