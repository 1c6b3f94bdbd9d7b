// Our side: a service as a user writes it.
#include "../shared/started.hpp"
#include "sides.hpp"

#include <millrace/event.hpp>
#include <millrace/millrace.hpp>
#include <millrace/pool_runtime.hpp>
#include <millrace/pubsub.hpp>

#include <chrono>
#include <cstdlib>

namespace bench::framework {
namespace {

namespace pubsub = millrace::pubsub;

pubsub::broker broker_of(const run_options& options) {
  pubsub::broker b(project);
  b.emulator(options.url).batches(pubsub::batching().messages(request_messages));
  b.publish_flow(requests_under_way, outstanding_bytes);
  return b;
}

/// One of the publishers that are under way together.
millrace::task<void> publish_some(millrace::publisher<pubsub::publish> to, std::size_t messages) {
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.text(sixteen_bytes).to(plain_topic);
    if (!sent) give_up(sent.error());
  }
}

} // namespace

int consume(const run_options& options) {
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(broker_of(options));
  pubsub::subscription source(kept_topic);
  source.max_outstanding(outstanding, outstanding_bytes).ack_extension(std::chrono::seconds(ack_deadline));
  on.subscribe(source, [&m](millrace::bytes_view payload) { m.message(payload.size()); });
  auto running = started(app);
  m.wait();
  m.report();
  return running.shutdown() ? 0 : 1;
}

/// As many publishing coroutines as there are messages in the requests that may be under way.
int publish(const run_options& options) {
  constexpr std::size_t together = request_messages * requests_under_way;
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(broker_of(options));
  const auto to = on.publisher();
  auto running = started(app);
  millrace::pool_runtime clock(0);
  millrace::task_group all(clock);
  m.begin();
  for (std::size_t i = 0; i < together; ++i)
    all.spawn(publish_some(to, options.messages / together), "a publisher");
  millrace::sync_wait(all.drain(clock.now() + std::chrono::seconds(120)));
  m.end();
  m.report();
  return running.shutdown() ? 0 : 1;
}

} // namespace bench::framework
