// A worker on Google Pub/Sub: it creates its topic and its subscription, handles orders side by side, and a slow one
// keeps its lease. With PUBSUB_EMULATOR_HOST it talks to an emulator; without, to the project with your default
// credentials.
#include <millrace/millrace.hpp>
#include <millrace/pubsub.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

using namespace std::chrono_literals;

struct order {
  int id = 0;
  std::string item;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

std::string project() {
  const char* named = std::getenv("GOOGLE_CLOUD_PROJECT");
  return named != nullptr ? named : "my-project";
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "pubsub_worker", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::pubsub::broker{project()});
  auto orders = on.publisher();

  auto left = std::make_shared<std::atomic<int>>(3);
  on.subscribe(millrace::pubsub::subscription("order-worker").create_with_topic("orders").max_outstanding(100),
               [left](const order& o, millrace::context& ctx,
                      millrace::field<millrace::pubsub::message_id> id) -> millrace::task<millrace::outcome> {
                 co_await ctx.sleep_for(50ms); // the lease is kept meanwhile, for up to an hour
                 std::cout << "order " + std::to_string(o.id) + ", " + o.item + (id->empty() ? "" : ": done\n");
                 if (--*left == 0) ctx.stop_service();
                 co_return millrace::ack();
               })
      .workers(4);

  app.after_startup([orders]() -> millrace::task<millrace::result<void>> {
    const order examples[] = {{1, "tea"}, {2, "a pot"}, {3, "sugar"}};
    for (const order& o : examples) {
      auto sent = co_await orders.publish("orders", o);
      if (!sent) co_return millrace::fail(std::move(sent).error());
      std::cout << "order " + std::to_string(o.id) + " is message " + sent->id + '\n';
    }
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
