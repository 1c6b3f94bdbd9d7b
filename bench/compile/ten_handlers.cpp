// Ten handlers, each over a type of its own.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <cstdint>
#include <string>

// A template would be shorter, but a service has ten types, each described.
#define MESSAGE(name)                                                                                                  \
  struct name {                                                                                                        \
    std::uint64_t id = 0;                                                                                              \
    std::string item;                                                                                                  \
    int quantity = 0;                                                                                                  \
  };                                                                                                                   \
  BOOST_DESCRIBE_STRUCT(name, (), (id, item, quantity))                                                                \
  millrace::task<millrace::outcome> on_##name(const name& m, millrace::context& ctx) {                                 \
    if (m.quantity <= 0) co_return millrace::drop();                                                                   \
    co_await ctx.sleep_for(std::chrono::milliseconds(5));                                                              \
    co_return millrace::ack();                                                                                         \
  }

MESSAGE(order)
MESSAGE(invoice)
MESSAGE(payment)
MESSAGE(refund)
MESSAGE(shipment)
MESSAGE(parcel)
MESSAGE(customer)
MESSAGE(address)
MESSAGE(item)
MESSAGE(price)

int main(int argc, char** argv) {
  millrace::service app{{.title = "orders", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});
  on.subscribe("order", on_order).max_attempts(5);
  on.subscribe("invoice", on_invoice).max_attempts(5);
  on.subscribe("payment", on_payment).max_attempts(5);
  on.subscribe("refund", on_refund).max_attempts(5);
  on.subscribe("shipment", on_shipment).max_attempts(5);
  on.subscribe("parcel", on_parcel).max_attempts(5);
  on.subscribe("customer", on_customer).max_attempts(5);
  on.subscribe("address", on_address).max_attempts(5);
  on.subscribe("item", on_item).max_attempts(5);
  on.subscribe("price", on_price).max_attempts(5);
  return app.main(argc, argv);
}
