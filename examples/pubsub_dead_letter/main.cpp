// A message that keeps failing: Pub/Sub counts its deliveries and moves it to the dead-letter topic after the fifth.
// The policy is declared at the registration and written into the subscription.
#include <millrace/millrace.hpp>
#include <millrace/pubsub.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

struct payment {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(payment, (), (id))

std::string project() {
  const char* named = std::getenv("GOOGLE_CLOUD_PROJECT");
  return named != nullptr ? named : "my-project";
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "pubsub_dead_letter", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::pubsub::broker{project()});

  on.subscribe(millrace::pubsub::subscription("cashier").create_with_topic("payments"),
               [](const payment& p, millrace::context& ctx) {
                 std::cout << "payment " + std::to_string(p.id) + ", delivery " + std::to_string(ctx.attempt()) + '\n';
                 return millrace::retry();
               })
      .max_attempts(5)
      .dead_letter("failed-payments");

  on.subscribe(millrace::pubsub::subscription("clerk").create_with_topic("failed-payments"),
               [](const payment& p, millrace::context& ctx) {
                 std::cout << "payment " + std::to_string(p.id) + " is on the clerk's desk\n";
                 ctx.stop_service();
               });

  auto payments = on.publisher();
  app.after_startup([payments]() -> millrace::task<millrace::result<void>> {
    const payment p{7};
    auto sent = co_await payments.publish("payments", p);
    if (!sent) co_return millrace::fail(std::move(sent).error());
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
