// Transactions: messages that become visible together, or not at all.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/transaction.hpp>

#include <atomic>
#include <iostream>
#include <memory>
#include <string>

struct transfer {
  std::string from;
  std::string to;
  int amount = 0;
};
BOOST_DESCRIBE_STRUCT(transfer, (), (from, to, amount))

struct entry {
  std::string account;
  int amount = 0;
};
BOOST_DESCRIBE_STRUCT(entry, (), (account, amount))

using publisher = millrace::publisher<millrace::memory::publish>;

/// Both entries or none. A transaction of its own for every call, so that workers may run side by side: a publisher has
/// one borrowed transaction at a time, and any number of owned ones.
millrace::task<millrace::outcome> book(const transfer& t, publisher entries) {
  auto tx = co_await millrace::begin_owned(entries);
  if (!tx) co_return millrace::retry();
  const entry debit{t.from, -t.amount};
  auto sent = co_await tx->publish("entries", debit);
  if (!sent) co_return millrace::retry();
  // Leaving the scope aborts: the debit is never seen.
  if (t.to.empty()) co_return millrace::drop();
  const entry credit{t.to, t.amount};
  sent = co_await tx->publish("entries", credit);
  if (!sent) co_return millrace::retry();
  auto done = co_await std::move(*tx).commit();
  if (!done) co_return millrace::retry();
  co_return millrace::ack();
}

/// The borrowed kind: all transfers arrive, or none.
millrace::task<millrace::result<void>> order_transfers(publisher transfers) {
  auto tx = co_await millrace::begin(transfers);
  if (!tx) co_return millrace::fail(std::move(tx).error());
  const transfer examples[] = {{"ann", "bob", 5}, {"ann", "", 7}, {"bob", "eve", 3}};
  for (const transfer& t : examples) {
    auto sent = co_await tx->publish("transfers", t);
    if (!sent) co_return millrace::fail(std::move(sent).error());
  }
  auto second = co_await millrace::begin(transfers);
  if (!second) std::cout << "one at a time: " << second.error().message() << '\n';
  auto done = co_await std::move(*tx).commit();
  co_return done;
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "transactions", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});
  auto out = on.publisher();

  on.subscribe("transfers", [out](const transfer& t) { return book(t, out); }).workers(2);

  auto left = std::make_shared<std::atomic<int>>(4);
  on.subscribe("entries", [left](const entry& e, millrace::context& ctx) {
    std::cout << e.account << ' ' << e.amount << '\n';
    if (--*left == 0) ctx.stop_service();
  });

  app.after_startup([out] { return order_transfers(out); });
  return app.main(argc, argv);
}
