// Failover over AMQP 1.0: several hosts in the URL, tried in turn. Nobody listens at the first one here; after a loss
// the next one is dialled, subscriptions come back, and publishes wait for it.
#include <millrace/amqp.hpp>
#include <millrace/millrace.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace std::chrono_literals;
namespace amqp = millrace::amqp;

/// The server's URL with a host in front that is not there.
std::string cluster_url() {
  const char* const given = std::getenv("MILLRACE_RABBITMQ_URL");
  std::string url = given != nullptr ? given : "amqp://guest:guest@127.0.0.1:5672";
  url.insert(url.find('@') + 1, "127.0.0.1:1,");
  return url;
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "amqp_failover", .version = "1.0.0"}};
  auto cluster = amqp::broker{cluster_url()}.backoff(50ms, 2s).publish_timeout(20s);
  std::cout << "dialling " << cluster.describe() << '\n'; // without the password
  auto on = app.with_broker(std::move(cluster));
  const std::string queue = "/queue/example.amqp.failover";

  on.subscribe(amqp::raw{queue}, [](const std::string& text, millrace::context& ctx) {
    std::cout << "got " + text + "\n";
    ctx.stop_service();
  });
  auto messages = on.publisher(amqp::publish{});
  app.after_startup([messages, queue]() -> millrace::task<millrace::result<void>> {
    const std::string text = "through the second host";
    auto sent = co_await messages.publish(queue, text);
    if (!sent) co_return millrace::fail(std::move(sent).error());
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
