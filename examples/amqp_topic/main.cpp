// A topic over AMQP 1.0: each subscription gets a copy, and one of them wants only what concerns Europe.
#include <millrace/amqp.hpp>
#include <millrace/millrace.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

namespace amqp = millrace::amqp;

struct price {
  std::string item;
  double value = 0;
};
BOOST_DESCRIBE_STRUCT(price, (), (item, value))

std::string server_url() {
  const char* url = std::getenv("MILLRACE_ARTEMIS_URL");
  return url != nullptr ? url : "amqp://127.0.0.1:5672";
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "amqp_topic", .version = "1.0.0"}};
  auto on = app.with_broker(amqp::broker{server_url()}.container_id("prices"));
  auto left = std::make_shared<std::atomic<int>>(3);
  const auto done = [left](millrace::context& ctx) {
    if (--*left == 0) ctx.stop_service();
  };

  on.subscribe(amqp::topic{"example.prices"}, [done](const price& p, millrace::context& ctx) {
    std::cout << "archive: " + p.item + "\n";
    done(ctx);
  });
  on.subscribe(amqp::topic{"example.prices"}.selector("region = 'eu'"), [done](const price& p, millrace::context& ctx) {
    std::cout << "europe: " + p.item + "\n";
    done(ctx);
  });

  auto prices = on.publisher(amqp::publish{}.to(amqp::node_kind::topic));
  app.after_startup([prices]() -> millrace::task<millrace::result<void>> {
    const price tea{"tea", 2.5};
    const price rice{"rice", 1.25};
    auto first = co_await prices.message(tea).to("example.prices").header("region", "eu");
    if (!first) co_return millrace::fail(std::move(first).error());
    auto second = co_await prices.message(rice).to("example.prices").header("region", "asia");
    if (!second) co_return millrace::fail(std::move(second).error());
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
