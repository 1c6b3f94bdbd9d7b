// What a small service looks like to the compiler: one handler, a coroutine over a described struct.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <cstdint>
#include <string>

struct order {
  std::uint64_t id = 0;
  std::string item;
  int quantity = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item, quantity))

millrace::task<millrace::outcome> bill(const order& o, millrace::context& ctx) {
  if (o.quantity <= 0) co_return millrace::drop();
  co_await ctx.sleep_for(std::chrono::milliseconds(5));
  co_return millrace::ack();
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "orders", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});
  on.subscribe("orders", bill).workers(4).max_attempts(5).dead_letter("orders.dead");
  return app.main(argc, argv);
}
