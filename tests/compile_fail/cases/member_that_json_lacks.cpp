// expect: a pointer has no JSON form
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

struct order {
  int* id = nullptr;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))
void declare() {
  service app{service_info{"wrong"}};
  app.with_broker(memory::broker{}).subscribe("orders", [](const order&) {});
}
