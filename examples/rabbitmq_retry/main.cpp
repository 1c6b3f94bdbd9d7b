// Retries on a quorum queue: a delayed one waits in a queue of the server, not in this process; a message that fails
// three times is dead-lettered by the server.
#include <millrace/millrace.hpp>
#include <millrace/rabbitmq.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

using namespace std::chrono_literals;
namespace rabbitmq = millrace::rabbitmq;

std::string server_url() {
  const char* url = std::getenv("MILLRACE_RABBITMQ_URL");
  return url != nullptr ? url : "amqp://guest:guest@127.0.0.1:5672";
}

/// Two things are left to see: the slow payment that succeeds, and the poisoned one that dies.
class ledger {
 public:
  void done(millrace::context& ctx) {
    if (--left_ == 0) ctx.stop_service();
  }

 private:
  std::atomic<int> left_ = 2;
};

millrace::outcome pay(const std::string& text, millrace::context& ctx, ledger& open) {
  std::cout << text + ": attempt " + std::to_string(ctx.attempt()) + "\n";
  if (text == "poison") return millrace::retry();
  if (ctx.attempt() == 1) return millrace::retry_after(200ms);
  open.done(ctx);
  return millrace::ack();
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "rabbitmq_retry", .version = "1.0.0"}};
  auto on = app.with_broker(rabbitmq::broker{server_url()}.prefetch(16).declare_topology(true));

  auto open = std::make_shared<ledger>();
  // Where spent messages go must be there first: the server drops what it cannot route.
  on.subscribe(rabbitmq::queue{"payments.dead"}.argument("x-expires", 60'000),
               [open](millrace::bytes_view body, millrace::context& ctx) {
                 std::cout << std::string(millrace::as_text(body)) + ": dead\n";
                 open->done(ctx);
               });
  on.subscribe(rabbitmq::quorum_queue{"payments"}.argument("x-expires", 60'000).delay(rabbitmq::delay::waiting_queue()),
               [open](millrace::bytes_view body, millrace::context& ctx) {
                 return pay(std::string(millrace::as_text(body)), ctx, *open);
               })
      .max_attempts(3)
      .dead_letter("payments.dead");

  auto payments = on.publisher(rabbitmq::confirms{});
  app.after_startup([payments]() -> millrace::task<millrace::result<void>> {
    for (const char* text : {"slow", "poison"}) {
      auto sent = co_await payments.text(text).to("payments");
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
