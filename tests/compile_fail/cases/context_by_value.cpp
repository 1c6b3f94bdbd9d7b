// expect: take the context as `millrace::context&`
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

void declare() {
  service app{service_info{"wrong"}};
  app.with_broker(memory::broker{}).subscribe("orders", [](bytes_view, const context&) {});
}
