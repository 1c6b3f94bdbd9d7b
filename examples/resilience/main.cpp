// What keeps a service well when what it depends on is not: retries that back off, a deadline, each message once, and a
// circuit breaker. A bank is down for a while; the payments reach it all the same, one of them sent twice.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/resilience/backoff.hpp>
#include <millrace/resilience/circuit_breaker.hpp>
#include <millrace/resilience/deduplicate.hpp>
#include <millrace/resilience/rate_limit.hpp>
#include <millrace/resilience/timeout.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

namespace resilience = millrace::resilience;
using namespace std::chrono_literals;

struct payment {
  int amount = 0;
};
BOOST_DESCRIBE_STRUCT(payment, (), (amount))

/// Refuses its first two calls. Used by one worker.
class bank {
 public:
  millrace::outcome pay(const payment& p, const millrace::context& ctx) {
    if (++calls_ <= 2) {
      std::cout << "the bank is down\n";
      return millrace::retry();
    }
    std::cout << "paid " << p.amount << '\n';
    total_ += p.amount;
    if (total_ == 42) ctx.stop_service();
    return millrace::ack();
  }

 private:
  int calls_ = 0;
  int total_ = 0;
};

void report(resilience::circuit now) {
  if (now == resilience::circuit::open) std::cout << "the circuit is open\n";
  if (now == resilience::circuit::closed) std::cout << "the circuit is closed\n";
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "resilience", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});

  const auto schedule = resilience::backoff::exponential(10ms, 1s).equal_jitter();
  const auto done = std::make_shared<resilience::memory_idempotency_store>();
  resilience::circuit_breaker guard({.failures = 2, .window = 10s, .open_for = 50ms, .half_open_probes = 1});
  guard.on_change(report);

  const auto the_bank = std::make_shared<bank>();
  on.subscribe("payments", [the_bank](const payment& p, millrace::context& ctx) { return the_bank->pay(p, ctx); })
      .use(resilience::retry_with(schedule)) // outermost: whatever asks for a retry waits by the schedule
      .use(resilience::rate_limit(100, 10))  // a turn is not part of the handler's time
      .use(resilience::timeout(5s))          // around deduplicate: a late effect is not repeated
      .use(resilience::deduplicate(done))    // around the breaker: what it refuses gives its claim back
      .use(guard);

  auto payments = on.publisher();
  app.after_startup([payments]() -> millrace::task<millrace::result<void>> {
    const payment twelve{12};
    for (int i = 0; i < 2; ++i) { // sent twice, paid once
      auto sent = co_await payments.message(twelve).to("payments").header("message-id", "p-1");
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    const payment thirty{30};
    auto sent = co_await payments.message(thirty).to("payments").header("message-id", "p-2");
    if (!sent) co_return millrace::fail(std::move(sent).error());
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
