// expect: a handler takes the message first
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

void declare() {
  service app{service_info{"wrong"}};
  app.with_broker(memory::broker{}).subscribe("orders", [] {});
}
