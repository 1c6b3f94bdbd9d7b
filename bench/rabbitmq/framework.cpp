// Our side: a service as a user writes it.
#include "../shared/started.hpp"
#include "meter.hpp"

#include <millrace/event.hpp>
#include <millrace/millrace.hpp>
#include <millrace/rabbitmq.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>

namespace bench::framework {
namespace {

namespace rabbitmq = millrace::rabbitmq;

template <class Policy>
millrace::task<void> publish_all(millrace::publisher<Policy> to, std::size_t messages, std::size_t size) {
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.text(payload(size)).to(publish_queue);
    if (!sent) give_up(sent.error());
  }
}

/// Resident memory in KiB.
long resident() {
  std::ifstream of("/proc/self/statm");
  long total = 0;
  long pages = 0;
  of >> total >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/// Publishes to the queue that the same service consumes, never more than `ahead` before it.
class bounded_feeder {
 public:
  static constexpr std::size_t ahead = 10'000;
  void consumed() noexcept {
    if (++consumed_ % (ahead / 2) == 0) more_.release();
  }
  millrace::task<void> run(millrace::publisher<rabbitmq::publish> to, std::size_t messages) {
    for (std::size_t i = 0; i < messages; ++i) {
      if (i % (ahead / 2) == 0) more_.acquire();
      const auto sent = co_await to.text(payload(16)).to(consume_queue);
      if (!sent) give_up(sent.error());
    }
  }

 private:
  std::size_t consumed_ = 0;
  std::counting_semaphore<> more_{2};
};

} // namespace

/// Until the closing handshake: by then the server has read everything.
int publish(const run_options& options, std::size_t size) {
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(rabbitmq::broker(options.url));
  const auto to = on.publisher(rabbitmq::publish().persistent(false));
  auto running = started(app);
  m.begin();
  millrace::sync_wait(publish_all(to, options.messages, size));
  auto closed = running.shutdown();
  m.end();
  if (!closed) give_up(closed.error());
  m.report();
  return 0;
}

/// One publishing coroutine for each message of the window.
int confirms(const run_options& options) {
  struct publishing : millrace::completion {
    explicit publishing(std::atomic<std::size_t>& n) noexcept
        : completion([](completion& c) noexcept {
            auto& left = *static_cast<publishing&>(c).left;
            if (left.fetch_sub(1) == 1) left.notify_one();
          }),
          left(&n) {}
    std::atomic<std::size_t>* left;
    millrace::task<void> work;
  };
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(rabbitmq::broker(options.url));
  const auto to = on.publisher(rabbitmq::confirms().window(window).persistent(false));
  auto running = started(app);
  std::atomic<std::size_t> left = window;
  std::deque<publishing> all;
  m.begin();
  for (std::size_t i = 0; i < window; ++i) {
    auto& one = all.emplace_back(left);
    one.work = publish_all(to, options.messages / window, 16);
    one.work.start(one);
  }
  for (std::size_t now = left.load(); now != 0; now = left.load())
    left.wait(now);
  m.end();
  m.report();
  return running.shutdown() ? 0 : 1;
}

int consume(const run_options& options) {
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(rabbitmq::broker(options.url).prefetch(prefetch));
  on.subscribe(consume_queue, [&m](millrace::bytes_view bytes) { m.message(bytes.size()); });
  auto running = started(app);
  m.wait();
  m.report();
  return running.shutdown() ? 0 : 1;
}

int memory(const run_options& options) {
  constexpr int lines = 10;
  bounded_feeder feeder;
  meter m(options.messages);
  millrace::service app{{.title = "bench"}};
  app.threads(options.threads);
  auto on = app.with_broker(rabbitmq::broker(options.url).prefetch(prefetch));
  std::size_t seen = 0;
  on.subscribe(consume_queue, [&](millrace::bytes_view bytes) {
    m.message(bytes.size());
    feeder.consumed();
    if (++seen % (options.messages / lines) == 0)
      std::fprintf(stderr, "messages=%zu resident_kib=%ld\n", seen, resident());
  });
  const auto to = on.publisher(rabbitmq::publish().persistent(false));
  auto running = started(app);
  millrace::sync_wait(feeder.run(to, options.messages));
  m.wait();
  m.report();
  return running.shutdown() ? 0 : 1;
}

} // namespace bench::framework
