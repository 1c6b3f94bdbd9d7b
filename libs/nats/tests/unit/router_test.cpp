#include <millrace/millrace.hpp>
#include <millrace/nats.hpp>
#include <millrace/testing.hpp>

#include <gtest/gtest.h>
#include <memory>

namespace nats = millrace::nats;

namespace {

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))

} // namespace

// core 2.22 on NATS, N7: a prefix moves subjects, replies and dead letters together.
TEST(nats_router, a_prefix_moves_every_name_of_a_registration) {
  millrace::service app{{.title = "routed"}};
  millrace::router<nats::broker> routes("eu.");
  routes.subscribe("orders", [](const order& o) { return o; }).reply("copies");
  routes.subscribe(nats::wildcard("bad.*"), [](const order&) { return millrace::retry(); })
      .max_attempts(2)
      .retry_to("bad.again")
      .dead_letter("dead");
  app.with_broker(nats::broker("nats://127.0.0.1:4222")).include(std::move(routes));
  millrace::testing::test_service t(app);
  t.publish("eu.orders", order{1});
  t.published("eu.copies").once();
  t.publish("eu.bad.one", order{2});
  t.published("eu.dead").once();
}
