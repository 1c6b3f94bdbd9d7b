#include "types.hpp"

#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/testing.hpp>

namespace memory = millrace::memory;
using millrace::json_codec;
using millrace::msgpack_codec;
using millrace::testing::outcome_kind;
using millrace::testing::test_service;
using msgpack_test::order;

namespace {

struct orders_service {
  millrace::service<> app{{.title = "orders"}};
  millrace::scope<memory::broker> on = app.with_broker(memory::broker{});
};

order twice(const order& o) { return {o.id, o.item, o.quantity * 2}; }

} // namespace

TEST(MsgpackService, a_scopes_codec_decodes_and_writes_the_reply) {
  orders_service s;
  s.on.with_codec<msgpack_codec>().subscribe("orders", twice).reply("copies");
  test_service t(s.app);
  t.publish<msgpack_codec>("orders", order{1, "tea", 2});
  t.subscription("orders").called_once().with<msgpack_codec>(order{1, "tea", 2});
  t.published("copies").once().with<msgpack_codec>(order{1, "tea", 4}).header("content-type", "application/msgpack");
}

// core 2.20: the narrowest wins
TEST(MsgpackService, the_registration_goes_before_the_router_and_the_router_before_the_scope) {
  orders_service s;
  auto scope = s.on.with_codec<json_codec>();
  scope.subscribe("scope", twice).reply("copies");
  millrace::router<memory::broker, void, msgpack_codec> routes;
  routes.subscribe("router", twice).reply("copies");
  routes.subscribe<json_codec>("registration", twice).reply("copies");
  scope.include(std::move(routes));
  auto narrow = s.on.with_codec<msgpack_codec>();
  millrace::router<memory::broker> plain;
  plain.subscribe("router.json", twice).reply("copies");
  narrow.include(std::move(plain));
  test_service t(s.app);

  const order sent{1, "tea", 2};
  const order answer{1, "tea", 4};
  t.publish("scope", sent);
  t.published("copies").count(1).with(answer);
  t.publish<msgpack_codec>("router", sent);
  t.published("copies").count(2).with<msgpack_codec>(answer);
  t.publish("registration", sent);
  t.published("copies").count(3).with(answer);
  t.publish("router.json", sent);
  t.published("copies").count(4).with(answer);
}

TEST(MsgpackService, a_registration_of_a_json_scope_may_name_it) {
  orders_service s;
  s.on.subscribe<msgpack_codec>("orders", [](const order&) {});
  test_service t(s.app);
  t.publish<msgpack_codec>("orders", order{1, "tea", 2});
  t.subscription("orders").called_once().settled(millrace::ack());
}

TEST(MsgpackService, what_does_not_decode_follows_the_decode_policy) {
  orders_service s;
  s.on.subscribe<msgpack_codec>("orders", [](const order&) {});
  test_service t(s.app);
  t.publish("orders", order{1, "tea", 2}); // JSON
  t.subscription("orders").not_called().assert_outcome(outcome_kind::decode_failure);
  t.assert_running();
}
