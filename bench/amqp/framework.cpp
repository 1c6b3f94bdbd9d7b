// Our side: a service as a user writes it.
#include "../shared/started.hpp"
#include "sides.hpp"

#include <millrace/amqp.hpp>
#include <millrace/event.hpp>
#include <millrace/millrace.hpp>
#include <millrace/pool_runtime.hpp>

#include <cstdlib>
#include <vector>

namespace bench::framework {
namespace {

namespace amqp = millrace::amqp;
using namespace std::chrono_literals;

/// One of those that are under way together.
millrace::task<void> publish_some(millrace::publisher<amqp::publish> to, std::string queue, std::size_t messages) {
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.text(sixteen_bytes).to(queue);
    if (!sent) give_up(sent.error());
  }
}

int publish_with(const run_options& options, std::size_t together) {
  meter m(options.messages / together * together);
  millrace::service app{{.title = "bench"}};
  app.threads(0);
  auto on = app.with_broker(amqp::broker{options.url});
  const auto to = on.publisher(amqp::publish{});
  auto running = started(app);
  millrace::pool_runtime clock(0);
  millrace::task_group all(clock);
  millrace::sync_wait(publish_some(to, options.queue, 1)); // the link is there
  m.begin();
  for (std::size_t i = 0; i < together; ++i)
    all.spawn(publish_some(to, options.queue, options.messages / together), "publish");
  millrace::sync_wait(all.drain(clock.now() + 120s));
  m.end();
  m.report();
  return running.shutdown() ? 0 : 1;
}

millrace::task<void> ask(millrace::publisher<amqp::publish> to, std::string queue, std::vector<double>& took,
                         std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto began = std::chrono::steady_clock::now();
    auto answer = co_await to.text(sixteen_bytes).to(queue).request(10s);
    if (!answer) give_up(answer.error());
    took.push_back(seconds_since(began) * 1e3);
  }
}

} // namespace

int consume(const run_options& options) {
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(0);
  auto on = app.with_broker(amqp::broker{options.url});
  on.subscribe(amqp::raw{options.queue}.credit(window),
               [&m](millrace::bytes_view payload) { m.message(payload.size()); });
  auto running = started(app);
  m.wait();
  m.report();
  return running.shutdown() ? 0 : 1;
}

int publish(const run_options& options) { return publish_with(options, window); }
int publish_one_at_a_time(const run_options& options) { return publish_with(options, 1); }

int request(const run_options& options) {
  millrace::service app{{.title = "bench"}};
  app.threads(0);
  auto on = app.with_broker(amqp::broker{options.url});
  on.subscribe(amqp::queue{options.queue}, [](millrace::bytes_view question) {
      return std::string(millrace::as_text(question));
    }).reply_to_sender();
  const auto to = on.publisher(amqp::publish{});
  auto running = started(app);
  std::vector<double> took;
  millrace::sync_wait(ask(to, options.queue, took, warm_up_requests));
  took.clear();
  millrace::sync_wait(ask(to, options.queue, took, options.messages));
  report_times(took);
  return running.shutdown() ? 0 : 1;
}

} // namespace bench::framework
