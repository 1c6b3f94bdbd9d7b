#include "delivery_types.hpp"

#include <gtest/gtest.h>

using namespace delivery;
namespace memory = millrace::memory;

namespace {

class counting final : public millrace::interceptor {
 public:
  explicit counting(std::shared_ptr<int> calls) : calls_(std::move(calls)) {}
  std::optional<millrace::outcome> before(millrace::context&) override {
    ++*calls_;
    return std::nullopt;
  }

 private:
  std::shared_ptr<int> calls_;
};

} // namespace

// core 2.22: prefixes are ours; every name a registration uses moves with it
TEST(Routers, a_prefix_moves_addresses_replies_and_dead_letters_together) {
  orders_service s;
  millrace::router<memory::broker> routes("eu.");
  routes.subscribe("orders", [](const order& o) { return o; }).reply("copies");
  routes.subscribe("bad", [](const order&) { return millrace::retry(); }).max_attempts(2).dead_letter("bad.dead");
  s.on.include(std::move(routes));
  test_service t(s.app);
  t.publish("eu.orders", order{1, "tea"});
  t.publish("eu.bad", order{2, "tea"});
  t.published("eu.copies").once();
  t.published("eu.bad.dead").once();
  t.subscription("eu.bad").called(2);
}

TEST(Routers, prefixes_of_nested_routers_add_up) {
  orders_service s;
  auto seen = make_log();
  millrace::router<memory::broker> inner("orders.");
  inner.subscribe("new", [seen](const order&) { seen->push_back("new"); });
  millrace::router<memory::broker> outer("eu.");
  outer.include(std::move(inner));
  s.on.include(std::move(outer));
  test_service t(s.app);
  t.publish("eu.orders.new", order{1, "tea"});
  EXPECT_EQ(seen->size(), 1U);
}

// core 2.22
TEST(Routers, middleware_wraps_the_routers_own_registrations_alone) {
  orders_service s;
  auto calls = std::make_shared<int>(0);
  millrace::router<memory::broker> routes;
  routes.subscribe("inside", [](const order&) {});
  routes.use(counting(calls));
  s.on.include(std::move(routes));
  s.on.subscribe("outside", [](const order&) {});
  test_service t(s.app);
  t.publish("inside", order{1, "tea"});
  t.publish("outside", order{1, "tea"});
  EXPECT_EQ(*calls, 1);
}

TEST(Routers, a_registrations_own_name_stays_when_its_address_moves) {
  orders_service s;
  millrace::router<memory::broker> routes("eu.");
  routes.subscribe("orders", [](const order&) {}).named("billing");
  s.on.include(std::move(routes));
  test_service t(s.app);
  t.publish("eu.orders", order{1, "tea"});
  t.subscription("billing").called_once();
}

namespace {

struct shipments {
  static constexpr std::string_view name = "shipments";
  using messages = millrace::messages<order>;
};

millrace::task<void> ship(const order& o, millrace::out<shipments> out) {
  const auto sent = co_await out.publish("shipped", o);
  EXPECT_TRUE(sent);
}

} // namespace

// core 3.47
TEST(Routers, outputs_of_their_registrations_go_through_the_services_layers) {
  orders_service s;
  auto layered = make_log();
  s.app.use(noting_layer(layered));
  millrace::router<memory::broker> routes("eu.");
  routes.subscribe("orders", ship).bind<shipments>(s.on.publisher());
  s.on.include(std::move(routes));
  test_service t(s.app);
  t.publish("eu.orders", order{1, "tea"});
  EXPECT_EQ(*layered, (std::vector<std::string>{"shipped"}));
}
