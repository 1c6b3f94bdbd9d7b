// Replay: a handler goes back in its topic's log and reads it again.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <iostream>
#include <memory>
#include <string>

using millrace::memory::position;

struct event {
  std::string what;
  int amount = 0;
};
BOOST_DESCRIBE_STRUCT(event, (), (what, amount))

/// A view that is computed from the events. One worker uses it, so it needs no lock.
struct projection {
  int total = 0;
  int factor = 1; ///< the bug: it should be 2
  bool fixed = false;
};

int main(int argc, char** argv) {
  millrace::service app{{.title = "replay", .version = "1.0.0"}};
  // Only a broker that retains messages has positions: at most 1000 of each topic, whatever their size.
  auto on = app.with_broker(millrace::memory::broker{}.retain(millrace::memory::retention(1000, 0)));

  auto view = std::make_shared<projection>();
  on.subscribe(millrace::memory::topic("events").start_at(position::start()),
               [view](const event& e, millrace::context& ctx, millrace::field<millrace::memory::sequence> at,
                      millrace::field<millrace::memory::seeker> log) {
                 if (e.what != "fix") {
                   view->total += e.amount * view->factor;
                   return millrace::ack();
                 }
                 std::cout << "message " << *at << ": the total is " << view->total << '\n';
                 if (view->fixed) {
                   ctx.stop_service();
                   return millrace::ack();
                 }
                 *view = {0, 2, true};
                 auto moved = log->seek(position::at(1)); // this message is settled as usual, then comes the first
                 if (!moved) std::cout << moved.error().message() << '\n';
                 return millrace::ack();
               });

  auto events = on.publisher();
  app.after_startup([events]() -> millrace::task<millrace::result<void>> {
    const event examples[] = {{"sale", 5}, {"sale", 7}, {"fix", 0}};
    for (const event& e : examples) {
      auto sent = co_await events.publish("events", e);
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
