// A service on core NATS: a queue group bills orders, an observer hears everything under "orders.". Core NATS pushes
// and forgets: nothing is stored, nothing is acknowledged.
#include <millrace/millrace.hpp>
#include <millrace/nats.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

struct order {
  std::uint64_t id = 0;
  std::string item;
  int quantity = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item, quantity))

struct invoice {
  std::uint64_t order = 0;
  int total = 0;
};
BOOST_DESCRIBE_STRUCT(invoice, (), (order, total))

std::string server_url() {
  const char* url = std::getenv("MILLRACE_NATS_URL");
  return url != nullptr ? url : "nats://127.0.0.1:4222";
}

invoice bill(const order& o) { return invoice{o.id, o.quantity * 12}; }

int main(int argc, char** argv) {
  millrace::service app{{.title = "orders_on_nats", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::nats::broker{server_url()});

  // Every process that joins "billing" takes a share of the orders.
  on.subscribe(millrace::nats::subject("orders.new").queue_group("billing"), bill).workers(4).reply("orders.billed");

  // A pattern is no address, so a retry copy needs one of its own: here one that the pattern reads as well.
  auto left = std::make_shared<std::atomic<int>>(6);
  on.subscribe(millrace::nats::wildcard("orders.*"),
               [left](millrace::bytes_view payload, millrace::context& ctx) {
                 std::cout << std::string(ctx.subject()) + " " + std::string(millrace::as_text(payload)) + "\n";
                 if (--*left == 0) ctx.stop_service();
               })
      .named("observer")
      .retry_to("orders.again");

  auto orders = on.publisher();
  app.after_startup([orders]() -> millrace::task<millrace::result<void>> {
    const order examples[] = {{1, "keyboard", 2}, {2, "teapot", 1}, {3, "cable", 10}};
    for (const order& o : examples) {
      auto sent = co_await orders.publish("orders.new", o);
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
