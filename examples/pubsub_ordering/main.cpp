// Messages of one ordering key arrive in the order in which they were published, and keyed lanes handle them in it,
// while other keys go on beside them.
#include <millrace/millrace.hpp>
#include <millrace/pubsub.hpp>

#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

struct change {
  std::string account;
  int balance = 0;
};
BOOST_DESCRIBE_STRUCT(change, (), (account, balance))

std::string project() {
  const char* named = std::getenv("GOOGLE_CLOUD_PROJECT");
  return named != nullptr ? named : "my-project";
}

millrace::task<millrace::result<void>> publish_changes(millrace::publisher<millrace::pubsub::publish> changes) {
  for (int balance = 1; balance <= 3; ++balance) {
    for (const char* account : {"alice", "bob"}) {
      const change c{account, balance};
      // Awaited one by one, or all at once: within a key nothing overtakes.
      auto sent = co_await changes.message(c).to("changes").with(millrace::pubsub::order_by(account));
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
  }
  co_return millrace::result<void>{};
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "pubsub_ordering", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::pubsub::broker{project()});

  auto left = std::make_shared<std::atomic<int>>(6);
  auto said = std::make_shared<std::array<std::string, 2>>();
  // A subscription that is created here has message ordering on; one that exists must have it.
  on.subscribe(millrace::pubsub::subscription("ledger").create_with_topic("changes"),
               [left, said](const change& c, millrace::context& ctx) {
                 std::string& line = (*said)[c.account == "alice" ? 0 : 1];
                 line += " " + std::to_string(c.balance);
                 if (--*left > 0) return;
                 std::cout << "alice:" + (*said)[0] + "\nbob:" + (*said)[1] + '\n';
                 ctx.stop_service();
               })
      .workers(4)
      .by_key();

  auto changes = on.publisher();
  app.after_startup([changes] { return publish_changes(changes); });
  return app.main(argc, argv);
}
