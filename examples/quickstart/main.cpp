// A service on the embedded broker: it bills orders, tries a failing one again, rejects a bad one, and stops when all
// is done.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <iostream>
#include <memory>
#include <string>

using namespace std::chrono_literals;

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

// What a handler returns settles its message: an invoice is published and the order acknowledged; an outcome does what
// it says.
std::expected<invoice, millrace::outcome> bill(const order& o, millrace::context& ctx) {
  if (o.quantity <= 0) return std::unexpected(millrace::drop());
  if (o.item == "teapot" && ctx.attempt() < 3) return std::unexpected(millrace::retry_after(50ms));
  return invoice{o.id, o.quantity * 12};
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "quickstart", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});

  on.subscribe("orders", bill).workers(4).max_attempts(5).dead_letter("orders.dead").reply("invoices");

  auto open = std::make_shared<std::atomic<int>>(3);
  on.subscribe("invoices", [open](const invoice& i, millrace::context& ctx) {
    std::cout << "order " << i.order << " costs " << i.total << '\n';
    if (--*open == 0) ctx.stop_service();
  });

  auto orders = on.publisher();
  app.after_startup([orders]() -> millrace::task<millrace::result<void>> {
    const order examples[] = {{1, "keyboard", 2}, {2, "teapot", 1}, {3, "nothing", 0}, {4, "cable", 10}};
    for (const order& o : examples) {
      auto sent = co_await orders.publish("orders", o);
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
