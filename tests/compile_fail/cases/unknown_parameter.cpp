// expect: millrace: a handler's further parameters are
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

struct settings {};
struct other {};
void declare() {
  service<settings> app{service_info{"wrong"}};
  app.with_broker(memory::broker{}).subscribe("orders", [](bytes_view, const other&) {});
}
