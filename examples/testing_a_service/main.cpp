// Tests of a service without a server, a thread or a sleep. The expectations throw, so any test framework will do; here
// it is main.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/testing.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

struct order {
  std::uint64_t id = 0;
  std::string item;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

struct invoice {
  std::uint64_t order = 0;
};
BOOST_DESCRIBE_STRUCT(invoice, (), (order))

using invoices = millrace::publisher<millrace::memory::publish>;

// What is tested: the production service, built as production builds it.
millrace::task<millrace::outcome> bill(const order& o, millrace::context& ctx, invoices to) {
  if (o.item == "nothing") co_return millrace::drop();
  if (o.item == "teapot" && ctx.attempt() == 1) co_return millrace::retry_after(5s);
  if (o.item == "ghost") co_return millrace::retry();
  const invoice bill{o.id};
  auto sent = co_await to.publish("invoices", bill);
  if (!sent) co_return millrace::retry();
  co_return millrace::ack();
}

void mount(millrace::service<>& app) {
  auto on = app.with_broker(millrace::memory::broker{});
  auto to = on.publisher();
  on.subscribe("orders", [to](const order& o, millrace::context& ctx) { return bill(o, ctx, to); })
      .max_attempts(3)
      .dead_letter("orders.dead");
}

// A publish returns when the whole reaction is over: there is nothing to wait for.
void an_order_is_billed() {
  millrace::service app{{.title = "billing"}};
  mount(app);
  millrace::testing::test_service t(app);

  t.publish("orders", order{1, "cable"});

  t.subscription("orders").called_once().with(order{1, "cable"}).settled(millrace::ack());
  t.published("invoices").once().with(invoice{1});
}

// The clock is virtual: five seconds take no time, and nothing happens before the test lets them pass.
void a_teapot_is_tried_again_after_5_seconds() {
  millrace::service app{{.title = "billing"}};
  mount(app);
  millrace::testing::test_service t(app);

  t.publish("orders", order{2, "teapot"});
  t.subscription("orders").called_once().settled(millrace::retry_after(5s));
  t.published("invoices").none();

  t.advance(5s);
  t.subscription("orders").called(2).attempts(2).settled(millrace::ack());
  t.published("invoices").once();
}

void what_cannot_be_billed_is_a_dead_letter_or_dropped() {
  millrace::service app{{.title = "billing"}};
  mount(app);
  millrace::testing::test_service t(app);

  t.publish("orders", order{3, "ghost"}, millrace::testing::headers({{"tenant", "eu"}}));
  t.subscription("orders").called(3);
  t.published("orders.dead").once().with(order{3, "ghost"}).header("tenant", "eu");

  t.publish("orders", order{4, "nothing"});
  t.subscription("orders").settled(millrace::drop());

  t.publish_text("orders", "not an order");
  t.subscription("orders").assert_outcome(millrace::testing::outcome_kind::decode_failure);
  t.assert_running();
}

// What an expectation says that does not hold.
std::string a_wrong_expectation() {
  millrace::service app{{.title = "billing"}};
  mount(app);
  millrace::testing::test_service t(app);
  t.publish("orders", order{5, "cable"});
  try {
    t.published("invoices").once().with(invoice{6});
  } catch (const millrace::testing::expectation_failed& e) {
    return e.what();
  }
  return "it held";
}

int main() {
  try {
    an_order_is_billed();
    a_teapot_is_tried_again_after_5_seconds();
    what_cannot_be_billed_is_a_dead_letter_or_dropped();
  } catch (const std::exception& e) {
    std::cout << e.what() << '\n';
    return 1;
  }
  std::cout << "3 tests passed. A failed one says:\n" << a_wrong_expectation() << '\n';
}
