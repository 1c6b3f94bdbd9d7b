// Middleware of both kinds: interceptors, which see a message before and after its handler without suspending, and a
// coroutine around the handler, which may wait, answer by itself and catch what the handler throws.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;

struct payment {
  int amount = 0;
};
BOOST_DESCRIBE_STRUCT(payment, (), (amount))

/// What a handler throws when it is to be tried again.
struct bank_is_busy : std::exception {};

/// Counts how messages end. Workers share it, hence the atomics; it is copied into the chain, hence the pointer.
class counting : public millrace::interceptor {
 public:
  struct totals {
    std::atomic<int> acknowledged = 0;
    std::atomic<int> others = 0;
  };
  explicit counting(std::shared_ptr<totals> into) : totals_(std::move(into)) {}

  void after(millrace::context&, millrace::outcome& answer) override {
    if (answer.kind() == millrace::settlement_kind::ack)
      ++totals_->acknowledged;
    else
      ++totals_->others;
  }

 private:
  std::shared_ptr<totals> totals_;
};

/// Rejects what is not signed: the handler is not called.
class only_signed : public millrace::interceptor {
 public:
  std::optional<millrace::outcome> before(millrace::context& ctx) override {
    if (ctx.headers().contains("signature")) return std::nullopt;
    std::cout << "a payment without signature\n";
    return millrace::drop();
  }
};

/// A busy bank is no bug: the message comes back instead of stopping the service.
class patient : public millrace::middleware {
 public:
  millrace::task<millrace::outcome> around(millrace::context&, millrace::next_handler next) override {
    auto answer = millrace::retry_after(20ms);
    try {
      answer = co_await next();
    } catch (const bank_is_busy&) {
      std::cout << "the bank is busy\n";
    }
    co_return answer;
  }
};

void pay(const payment& p, millrace::context& ctx) {
  if (ctx.attempt() == 1) throw bank_is_busy{};
  std::cout << "paid " << p.amount << '\n';
  ctx.stop_service();
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "middleware", .version = "1.0.0"}};
  auto totals = std::make_shared<counting::totals>();
  app.use(counting{totals}); // every handler of the service
  auto on = app.with_broker(millrace::memory::broker{});
  on.use(only_signed{}); // those of this broker, inside the service's
  on.subscribe("payments", pay).use(patient{});

  auto payments = on.publisher();
  app.after_startup([payments]() -> millrace::task<millrace::result<void>> {
    const payment unsigned_one{5};
    auto first = co_await payments.publish("payments", unsigned_one);
    if (!first) co_return millrace::fail(std::move(first).error());
    const payment signed_one{12};
    auto second = co_await payments.message(signed_one).to("payments").header("signature", "ann");
    if (!second) co_return millrace::fail(std::move(second).error());
    co_return millrace::result<void>{};
  });
  app.after_shutdown([totals]() -> millrace::task<millrace::result<void>> {
    std::cout << totals->acknowledged << " acknowledged, " << totals->others << " not\n";
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
