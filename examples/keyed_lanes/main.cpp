// Keyed lanes: messages of one key are handled in order, one after the other; keys run side by side.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

using namespace std::chrono_literals;

struct entry {
  std::string account;
  int number = 0;
};
BOOST_DESCRIBE_STRUCT(entry, (), (account, number))

/// What was booked, in the order of booking.
class ledger {
 public:
  bool book(const entry& e) {
    const std::scoped_lock lock(mutex_);
    booked_[e.account] += " " + std::to_string(e.number);
    return ++count_ == 12;
  }
  void print() const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [account, numbers] : booked_)
      std::cout << account << ":" << numbers << '\n';
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> booked_;
  int count_ = 0;
};

millrace::task<millrace::outcome> book(const entry& e, millrace::context& ctx, ledger& into) {
  // The first entries take longest. Without lanes the later ones would overtake them.
  co_await ctx.sleep_for((5 - e.number) * 10ms);
  if (into.book(e)) ctx.stop_service();
  co_return millrace::ack();
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "keyed_lanes", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});

  auto booked = std::make_shared<ledger>();
  on.subscribe("entries", [booked](const entry& e, millrace::context& ctx) { return book(e, ctx, *booked); })
      .workers(3)
      .by_key();

  auto entries = on.publisher();
  app.after_startup([entries]() -> millrace::task<millrace::result<void>> {
    for (int number = 1; number <= 4; ++number) {
      for (const char* account : {"ann", "bob", "eve"}) {
        const entry e{account, number};
        // The embedded broker reads the key from this header; on NATS it is "nats-partition-key".
        auto sent = co_await entries.message(e).to("entries").header("partition-key", account);
        if (!sent) co_return millrace::fail(std::move(sent).error());
      }
    }
    co_return millrace::result<void>{};
  });
  app.after_shutdown([booked]() -> millrace::task<millrace::result<void>> {
    booked->print();
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
