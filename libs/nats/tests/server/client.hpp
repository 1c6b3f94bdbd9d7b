#pragma once

#include "run_task.hpp"
#include "support/sent_message.hpp"
#include "support/value_of.hpp"
#include "test_sink.hpp"

#include <millrace/nats.hpp>
#include <millrace/pool_runtime.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace millrace::nats::test {

using namespace std::chrono_literals;
using test_support::value_of;

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

inline task<result<receipt>> publish_task(runtime& rt, publish_port& port, outgoing message) {
  test_support::sent_message sent(port, rt, message);
  result<receipt> answer = co_await sent;
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
