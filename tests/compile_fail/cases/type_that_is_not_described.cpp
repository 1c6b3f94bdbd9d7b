// expect: BOOST_DESCRIBE_STRUCT(name, (), (member, ...))
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

struct order {
  int id = 0;
};
void declare() {
  service app{service_info{"wrong"}};
  app.with_broker(memory::broker{}).subscribe("orders", [](const order&) {});
}
