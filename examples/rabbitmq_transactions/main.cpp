// Fan-out in a transaction: an order becomes three messages that leave together, or not at all if the handler fails
// before the commit.
#include <millrace/millrace.hpp>
#include <millrace/rabbitmq.hpp>
#include <millrace/transaction.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

namespace rabbitmq = millrace::rabbitmq;

struct order {
  std::string item;
  int parts = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (item, parts))

std::string server_url() {
  const char* url = std::getenv("MILLRACE_RABBITMQ_URL");
  return url != nullptr ? url : "amqp://guest:guest@127.0.0.1:5672";
}

rabbitmq::queue passing(const std::string& name) { return rabbitmq::queue{name}.durable(false).auto_delete(); }

using sender = millrace::publisher<rabbitmq::confirms>;

millrace::task<millrace::outcome> split(const order& o, sender parts) {
  auto open = co_await millrace::begin_owned(parts);
  if (!open) co_return millrace::retry();
  for (int i = 1; i <= o.parts; ++i) {
    const std::string text = o.item + " part " + std::to_string(i);
    auto staged = co_await open->bytes(millrace::as_bytes(text)).to("parts");
    if (!staged) co_return millrace::retry(); // leaving the scope aborts
  }
  auto committed = co_await std::move(*open).commit();
  if (!committed) co_return millrace::retry();
  co_return millrace::ack();
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "rabbitmq_transactions", .version = "1.0.0"}};
  auto on = app.with_broker(rabbitmq::broker{server_url()}.prefetch(16).declare_topology(true));
  auto confirming = on.publisher(rabbitmq::confirms{});

  auto left = std::make_shared<std::atomic<int>>(3);
  on.subscribe(passing("parts"), [left](millrace::bytes_view text, millrace::context& ctx) {
    std::cout << std::string(millrace::as_text(text)) + "\n";
    if (--*left == 0) ctx.stop_service();
  });
  on.subscribe(passing("orders.split"), [confirming](const order& o) { return split(o, confirming); });

  app.after_startup([confirming]() -> millrace::task<millrace::result<void>> {
    const order one{"bicycle", 3};
    auto sent = co_await confirming.publish("orders.split", one);
    if (!sent) co_return millrace::fail(std::move(sent).error());
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
