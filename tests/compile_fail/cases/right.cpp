// The control: what the other cases get wrong, done right.
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))
struct settings {};

void settle_once(delivery d) { static_cast<void>(std::move(d).ack()); }
task<> climb(memory::broker b, runtime& rt) {
  auto connected = co_await std::move(b).connect(rt);
  if (connected) static_cast<void>(co_await std::move(*connected).shutdown());
}
void declare() {
  service<settings> app{service_info{"right"}};
  app.with_broker(memory::broker{}).subscribe("orders", [](const order&, context&, const settings&) { return ack(); });
}
