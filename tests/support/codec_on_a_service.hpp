#pragma once

#include "support/codec_values.hpp"

#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/testing.hpp>

#include <gtest/gtest.h>

#include <string>

namespace millrace::test_support {

/// What a service does with a codec that it names beside JSON. Each function is a test.
template <class Codec> class codec_on_a_service {
 public:
  static void a_scopes_codec_decodes_and_writes_the_reply(const std::string& content_type) {
    orders_service s;
    s.on.template with_codec<Codec>().subscribe("orders", twice).reply("copies");
    test_service t(s.app);
    t.publish<Codec>("orders", order{1, "tea", 2});
    t.subscription("orders").called_once().template with<Codec>(order{1, "tea", 2});
    t.published("copies").once().template with<Codec>(order{1, "tea", 4}).header("content-type", content_type);
  }

  static void the_registration_goes_before_the_router_and_the_router_before_the_scope() {
    orders_service s;
    auto scope = s.on.template with_codec<json_codec>();
    scope.subscribe("scope", twice).reply("copies");
    router<memory::broker, void, Codec> routes;
    routes.subscribe("router", twice).reply("copies");
    routes.template subscribe<json_codec>("registration", twice).reply("copies");
    scope.include(std::move(routes));
    auto narrow = s.on.template with_codec<Codec>();
    router<memory::broker> plain;
    plain.subscribe("router.json", twice).reply("copies");
    narrow.include(std::move(plain));
    test_service t(s.app);

    const order sent{1, "tea", 2};
    const order answer{1, "tea", 4};
    t.publish("scope", sent);
    t.published("copies").count(1).with(answer);
    t.publish<Codec>("router", sent);
    t.published("copies").count(2).template with<Codec>(answer);
    t.publish("registration", sent);
    t.published("copies").count(3).with(answer);
    t.publish("router.json", sent);
    t.published("copies").count(4).with(answer);
  }

  static void a_registration_of_a_json_scope_may_name_it() {
    orders_service s;
    s.on.template subscribe<Codec>("orders", [](const order&) {});
    test_service t(s.app);
    t.publish<Codec>("orders", order{1, "tea", 2});
    t.subscription("orders").called_once().settled(ack());
  }

  static void what_does_not_decode_follows_the_decode_policy() {
    orders_service s;
    s.on.template subscribe<Codec>("orders", [](const order&) {});
    test_service t(s.app);
    t.publish("orders", order{1, "tea", 2}); // JSON
    t.subscription("orders").not_called().assert_outcome(testing::outcome_kind::decode_failure);
    t.assert_running();
  }

 private:
  using test_service = testing::test_service;
  struct orders_service {
    service<> app{{.title = "orders"}};
    scope<memory::broker> on = app.with_broker(memory::broker{});
  };
  static order twice(const order& o) { return {o.id, o.item, o.quantity * 2}; }
};

} // namespace millrace::test_support
