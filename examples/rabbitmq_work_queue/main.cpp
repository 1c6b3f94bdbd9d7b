// A work queue: tasks are published with confirms, so that each of them is the server's before the next step, and
// shared out among workers that hold at most 16 at once.
#include <millrace/millrace.hpp>
#include <millrace/rabbitmq.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

namespace rabbitmq = millrace::rabbitmq;

struct resize {
  std::string picture;
  int width = 0;
};
BOOST_DESCRIBE_STRUCT(resize, (), (picture, width))

std::string server_url() {
  const char* url = std::getenv("MILLRACE_RABBITMQ_URL");
  return url != nullptr ? url : "amqp://guest:guest@127.0.0.1:5672";
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "rabbitmq_work_queue", .version = "1.0.0"}};
  auto on =
      app.with_broker(rabbitmq::broker{server_url()}.connection_name("work queue").prefetch(16).declare_topology(true));

  auto left = std::make_shared<std::atomic<int>>(3);
  on.subscribe(rabbitmq::queue{"pictures"}.argument("x-expires", 60'000), [left](const resize& r,
                                                                                 millrace::context& ctx) {
      std::cout << r.picture + " to " + std::to_string(r.width) + "\n";
      if (--*left == 0) ctx.stop_service();
    }).workers(4);

  auto tasks = on.publisher(rabbitmq::confirms{});
  app.after_startup([tasks]() -> millrace::task<millrace::result<void>> {
    const resize examples[] = {{"cat.png", 320}, {"dog.png", 640}, {"owl.png", 1280}};
    for (const resize& r : examples) {
      auto sent = co_await tasks.publish("pictures", r);
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    // No queue has this name: the server takes the message and drops it, but mandatory is on.
    auto lost = co_await tasks.publish("nowhere", examples[0]);
    if (!lost) std::cout << "nowhere: " << lost.error().server_text() << '\n';
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
