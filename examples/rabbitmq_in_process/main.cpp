// Tests of a RabbitMQ service without a server: the production broker runs in process, and the clock is the test's. The
// expectations throw, so any test framework will do; here it is main.
#include <millrace/millrace.hpp>
#include <millrace/rabbitmq.hpp>
#include <millrace/testing.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

using namespace std::chrono_literals;
namespace rabbitmq = millrace::rabbitmq;

// What is tested: the production service, built as production builds it.
millrace::outcome pay(const std::string& text, millrace::context& ctx) {
  if (text == "poison") return millrace::retry();
  return ctx.attempt() == 1 ? millrace::retry_after(30s) : millrace::ack();
}

void mount(millrace::service<>& app) {
  auto on = app.with_broker(rabbitmq::broker{"amqp://localhost/shop"}.prefetch(16).declare_topology(true));
  on.subscribe(rabbitmq::queue{"payments.dead"}, [](millrace::bytes_view, millrace::context&) {});
  on.subscribe(rabbitmq::quorum_queue{"payments"}.delay(rabbitmq::delay::waiting_queue()),
               [](millrace::bytes_view body, millrace::context& ctx) {
                 return pay(std::string(millrace::as_text(body)), ctx);
               })
      .max_attempts(3)
      .dead_letter("payments.dead");
}

// The copy waits in the server's queue `payments.retry`: half a minute takes no time, and not an instant less.
void a_slow_payment_comes_back_after_30_seconds() {
  millrace::service app{{.title = "payments"}};
  mount(app);
  millrace::testing::test_service t(app);

  t.publish_text("payments", "slow");
  t.advance(30s - 1ms);
  t.subscription("payments").called_once().settled(millrace::retry_after(30s));
  t.advance(1ms);
  t.subscription("payments").called(2).attempts(2).settled(millrace::ack());
}

// The quorum queue counts, and its server moves what is spent.
void a_poisoned_payment_is_buried_by_the_server() {
  millrace::service app{{.title = "payments"}};
  mount(app);
  millrace::testing::test_service t(app);

  t.publish_text("payments", "poison");
  t.subscription("payments").called(3).attempts(3);
  t.subscription("payments.dead").called_once().with_text("poison");
}

// What a server refuses is refused here too, in its words.
std::string a_start_that_a_server_refuses() {
  millrace::service app{{.title = "payments"}};
  mount(app);
  app.with_broker("reporting", rabbitmq::broker{"amqp://localhost/shop"})
      .subscribe(rabbitmq::queue{"reports"}, [](millrace::bytes_view, millrace::context&) {});
  auto started = millrace::testing::test_service::start(app);
  return started ? "it started" : started.error().message();
}

int main() {
  try {
    a_slow_payment_comes_back_after_30_seconds();
    a_poisoned_payment_is_buried_by_the_server();
  } catch (const std::exception& e) {
    std::cout << e.what() << '\n';
    return 1;
  }
  std::cout << "2 tests passed. A queue that nobody declared:\n" << a_start_that_a_server_refuses() << '\n';
}
