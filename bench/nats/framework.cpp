// Our side: a service as a user writes it.
#include "../shared/started.hpp"
#include "meter.hpp"

#include <millrace/event.hpp>
#include <millrace/nats.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace bench::framework {
namespace {

millrace::nats::broker broker_of(const run_options& options) {
  millrace::nats::connect_options how;
  how.pending_limit(pending_messages);
  millrace::nats::broker at(options.url);
  at.with_options(how);
  return at;
}

millrace::task<void> publish_all(millrace::publisher<millrace::nats::publish> to, std::size_t messages) {
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.text(sixteen_bytes).to(core_subject);
    if (!sent) give_up(sent.error());
  }
}

} // namespace

int consume(const run_options& options, bool json) {
  fed_meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(broker_of(options));
  if (json) {
    on.subscribe(core_subject, [&m](const order& o) { m.message(o.id + static_cast<std::uint64_t>(o.quantity)); });
  } else {
    on.subscribe(core_subject, [&m](millrace::bytes_view payload) { m.message(payload.size()); });
  }
  auto running = started(app);
  fed_meter::ready();
  m.wait();
  m.report();
  std::_Exit(0);
}

int publish(const run_options& options) {
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(broker_of(options));
  const auto to = on.publisher();
  auto running = started(app);
  m.begin();
  millrace::sync_wait(publish_all(to, options.messages));
  m.end();
  m.report();
  return running.shutdown() ? 0 : 1;
}

int pull(const run_options& options) {
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(broker_of(options));
  millrace::nats::jetstream source(stream, stream_subject);
  source.durable(consumer_name()).max_ack_pending(ack_pending).pull_window(pull_batch);
  on.subscribe(source, [&m](millrace::bytes_view payload) { m.message(payload.size()); });
  auto running = started(app);
  m.wait();
  m.report();
  return running.shutdown() ? 0 : 1;
}

/// How long a service with one subscription takes to start on the server, and to stop with nothing in flight.
int lifecycle(const run_options& options) {
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(broker_of(options));
  on.subscribe(core_subject, [](millrace::bytes_view) {});
  const auto begun = std::chrono::steady_clock::now();
  auto running = started(app);
  const auto up = std::chrono::steady_clock::now();
  const auto stopped = running.shutdown();
  const auto down = std::chrono::steady_clock::now();
  if (!stopped) give_up(stopped.error());
  const auto milliseconds = [](auto d) { return std::chrono::duration<double, std::milli>(d).count(); };
  std::fprintf(stderr, "start=%.3f shutdown=%.3f\n", milliseconds(up - begun), milliseconds(down - up));
  return 0;
}

} // namespace bench::framework
