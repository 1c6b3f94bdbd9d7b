// A topic exchange: one publisher, two queues that are bound by patterns. A message that both match reaches both.
#include <millrace/millrace.hpp>
#include <millrace/rabbitmq.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

namespace rabbitmq = millrace::rabbitmq;

std::string server_url() {
  const char* url = std::getenv("MILLRACE_RABBITMQ_URL");
  return url != nullptr ? url : "amqp://guest:guest@127.0.0.1:5672";
}

/// A queue of this process alone, gone with its connection.
rabbitmq::queue bound(const std::string& name, const std::string& pattern) {
  return rabbitmq::queue{name}.durable(false).exclusive().auto_delete().bind(
      rabbitmq::exchange_spec::topic("example.events").durable(false).auto_delete(), pattern);
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "rabbitmq_topic", .version = "1.0.0"}};
  auto on = app.with_broker(rabbitmq::broker{server_url()}.prefetch(16).declare_topology(true));

  auto left = std::make_shared<std::atomic<int>>(4);
  const auto listen = [&on, left](const std::string& name, const std::string& pattern) {
    on.subscribe(bound(name, pattern), [name, left](millrace::bytes_view text, millrace::context& ctx) {
      std::cout << name + ": " + std::string(ctx.subject()) + " " + std::string(millrace::as_text(text)) + "\n";
      if (--*left == 0) ctx.stop_service();
    });
  };
  listen("europe", "order.eu.*");
  listen("cancelled", "order.*.cancelled");

  auto events = on.publisher(rabbitmq::confirms{}.exchange("example.events"));
  app.after_startup([events]() -> millrace::task<millrace::result<void>> {
    for (const char* key : {"order.eu.new", "order.us.cancelled", "order.eu.cancelled"}) {
      auto sent = co_await events.text("1").to(key);
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    auto unheard = co_await events.text("1").to("order.us.new");
    if (!unheard) std::cout << "order.us.new: nobody listens\n";
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
