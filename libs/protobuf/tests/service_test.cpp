#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/protobuf.hpp>
#include <millrace/testing.hpp>

#include <messages.pb.h>

#include <gtest/gtest.h>

namespace memory = millrace::memory;
using millrace::protobuf_codec;
using millrace::testing::outcome_kind;
using millrace::testing::test_service;
using protobuf_test::order;

namespace {

struct orders_service {
  millrace::service<> app{{.title = "orders"}};
  millrace::scope<memory::broker> on = app.with_broker(memory::broker{});
};

order make_order(std::uint64_t id) {
  order made;
  made.set_id(id);
  return made;
}

order next(const order& o) { return make_order(o.id() + 1); }

std::vector<std::uint64_t> ids(const std::vector<order>& orders) {
  std::vector<std::uint64_t> all;
  for (const auto& o : orders)
    all.push_back(o.id());
  return all;
}

} // namespace

TEST(ProtobufService, a_scopes_codec_decodes_and_writes_the_reply) {
  orders_service s;
  s.on.with_codec<protobuf_codec>().subscribe("orders", next).reply("answers");
  test_service t(s.app);
  t.publish<protobuf_codec>("orders", make_order(1));
  t.publish<protobuf_codec>("orders", make_order(7));
  EXPECT_EQ(ids(t.published("answers").payloads<order, protobuf_codec>()), (std::vector<std::uint64_t>{2, 8}));
}

TEST(ProtobufService, a_registration_of_a_json_scope_may_name_it) {
  orders_service s;
  s.on.subscribe<protobuf_codec>("orders", [](const order&) {});
  test_service t(s.app);
  t.publish<protobuf_codec>("orders", make_order(3));
  t.subscription("orders").called_once().settled(millrace::ack());
  EXPECT_EQ(ids(t.subscription("orders").received<order, protobuf_codec>()), std::vector<std::uint64_t>{3});
}

TEST(ProtobufService, what_does_not_decode_follows_the_decode_policy) {
  orders_service s;
  s.on.subscribe<protobuf_codec>("orders", [](const order&) {});
  test_service t(s.app);
  t.publish_text("orders", "not a message");
  t.subscription("orders").not_called().assert_outcome(outcome_kind::decode_failure);
  t.assert_running();
}
