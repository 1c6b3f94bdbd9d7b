// Routers: a group of registrations, written once and mounted under a prefix, as often as it is needed.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <atomic>
#include <expected>
#include <iostream>
#include <memory>
#include <string>

struct order {
  int id = 0;
  int quantity = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, quantity))

struct invoice {
  int order = 0;
  int total = 0;
};
BOOST_DESCRIBE_STRUCT(invoice, (), (order, total))

using countdown = std::shared_ptr<std::atomic<int>>;
using routes = millrace::router<millrace::memory::broker>;

std::expected<invoice, millrace::outcome> bill(const order& o) {
  if (o.quantity <= 0) return std::unexpected(millrace::retry());
  return invoice{o.id, o.quantity * 12};
}

/// Reads `<prefix>orders`, answers to `<prefix>invoices`, gives up to `<prefix>orders.dead`.
routes billing(const std::string& prefix, const countdown& left) {
  routes made(prefix);
  made.subscribe("orders", bill).reply("invoices").max_attempts(2).dead_letter("orders.dead");
  const auto show = [left](millrace::bytes_view payload, millrace::context& ctx) {
    std::cout << std::string(ctx.subject()) + " " + std::string(millrace::as_text(payload)) + "\n";
    if (--*left == 0) ctx.stop_service();
  };
  made.subscribe("invoices", show);
  made.subscribe("orders.dead", show);
  return made;
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "routers", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});

  auto left = std::make_shared<std::atomic<int>>(3);
  on.include(billing("eu.", left));
  on.include(billing("us.", left));

  auto orders = on.publisher();
  app.after_startup([orders]() -> millrace::task<millrace::result<void>> {
    const order good{1, 2};
    auto sent = co_await orders.publish("eu.orders", good);
    if (!sent) co_return millrace::fail(std::move(sent).error());
    sent = co_await orders.publish("us.orders", good);
    if (!sent) co_return millrace::fail(std::move(sent).error());
    const order bad{2, 0};
    sent = co_await orders.publish("us.orders", bad);
    if (!sent) co_return millrace::fail(std::move(sent).error());
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
