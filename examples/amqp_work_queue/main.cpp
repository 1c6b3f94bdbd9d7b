// A work queue over AMQP 1.0: a publish is done when the server has accepted the message, and at most 16 are out among
// four workers. One task fails once and is delivered again.
#include <millrace/amqp.hpp>
#include <millrace/millrace.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

namespace amqp = millrace::amqp;

struct resize {
  std::string picture;
  int width = 0;
};
BOOST_DESCRIBE_STRUCT(resize, (), (picture, width))

std::string server_url() {
  const char* url = std::getenv("MILLRACE_RABBITMQ_URL");
  return url != nullptr ? url : "amqp://guest:guest@127.0.0.1:5672";
}

/// What has still to be done, and whether the owl has failed.
struct progress {
  std::atomic<int> left = 3;
  std::atomic<bool> failed = false;
};

int main(int argc, char** argv) {
  millrace::service app{{.title = "amqp_work_queue", .version = "1.0.0"}};
  auto on = app.with_broker(amqp::broker{server_url()}.container_id("pictures"));
  auto state = std::make_shared<progress>();
  const std::string queue =
      "/queue/example.amqp.pictures"; // RabbitMQ's name for the queue; Artemis: amqp::queue{"..."}

  on.subscribe(amqp::raw{queue}.credit(16), [state](const resize& r, millrace::context& ctx) -> millrace::outcome {
      if (r.picture == "owl.png" && !state->failed.exchange(true)) {
        std::cout << "owl.png: once more\n";
        return millrace::retry();
      }
      std::cout << r.picture + " to " + std::to_string(r.width) + "\n";
      if (--state->left == 0) ctx.stop_service();
      return millrace::ack();
    }).workers(4);

  auto tasks = on.publisher(amqp::publish{});
  app.after_startup([tasks, queue]() -> millrace::task<millrace::result<void>> {
    const resize examples[] = {{"cat.png", 320}, {"dog.png", 640}, {"owl.png", 1280}};
    for (const resize& r : examples) {
      auto sent = co_await tasks.publish(queue, r);
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
