// Services on the in-process mode: it answers as the service does.
#include "pubsub_client.hpp"

#include <millrace/service.hpp>
#include <millrace/testing/test_service.hpp>

namespace millrace::pubsub::test {
namespace {

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))

outcome always_again(const order&) { return retry(); }
outcome fine(const order&) { return ack(); }

TEST(in_process, topics_fan_out_and_subscriptions_share) {
  service app{{.title = "orders"}};
  app.with_broker(broker(project), [](auto& on) {
    on.subscribe(subscription("billing").create_with_topic("orders"), fine);
    on.subscribe(subscription("shipping").create_with_topic("orders"), fine);
  });
  testing::test_service t(app);
  t.publish("orders", order{7});
  t.subscription("billing").called_once().settled(ack());
  t.subscription("shipping").called_once().settled(ack());
}

TEST(in_process, a_bare_name_reads_the_topic_of_its_name) {
  service app{{.title = "orders"}};
  app.with_broker(broker(project), [](auto& on) { on.subscribe("orders", fine); });
  testing::test_service t(app);
  t.publish("orders", order{7});
  t.subscription("orders").called_once();
}

TEST(in_process, what_used_its_attempts_up_goes_to_the_dead_letter_topic) {
  service app{{.title = "orders"}};
  app.with_broker(broker(project), [](auto& on) {
    on.subscribe(subscription("worker").create_with_topic("orders"), always_again).max_attempts(5).dead_letter("dead");
    on.subscribe(subscription("letters").create_with_topic("dead"), fine);
  });
  testing::test_service t(app);
  t.publish("orders", order{7});
  t.subscription("worker").called(5);
  t.subscription("letters").called_once().settled(ack());
}

TEST(in_process, a_delayed_retry_waits_for_the_clock) {
  service app{{.title = "orders"}};
  app.with_broker(broker(project), [](auto& on) {
    on.subscribe("orders", [n = 0](const order&) mutable { return n++ == 0 ? retry_after(5min) : ack(); });
  });
  testing::test_service t(app);
  t.publish("orders", order{7});
  t.subscription("orders").called_once();
  t.advance(5min);
  t.subscription("orders").called(2);
}

TEST(in_process, s36_what_the_service_refuses_is_refused_with_the_same_error) {
  service app{{.title = "orders"}};
  app.with_broker(broker(project), [](auto& on) { on.subscribe("orders", fine); });
  testing::test_service t(app);
  header_map bad;
  bad.set("goog-header", "x");
  EXPECT_EQ(t.broker().try_publish("orders", as_bytes("x"), bad).error(), make_error_code(errc::publish));
  EXPECT_EQ(t.broker().try_publish("x", as_bytes("x")).error(), make_error_code(errc::publish));
  EXPECT_EQ(t.broker().try_publish("orders", {}).error(), make_error_code(errc::publish));
}

TEST(in_process, s34_registrations_that_declare_different_things_end_the_start) {
  service app{{.title = "orders"}};
  app.with_broker(broker(project), [](auto& on) {
    on.subscribe("orders", fine).named("one").max_attempts(5).dead_letter("dead");
    on.subscribe(subscription(subscription_name("orders")), fine).named("two").max_attempts(6).dead_letter("dead");
  });
  const auto started = testing::test_service::start(app);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), millrace::errc::invalid_options);
  EXPECT_TRUE(started.error().message().contains("two")) << started.error().message();
}

TEST(in_process, retry_to_is_refused_since_the_broker_redelivers) {
  service app{{.title = "orders"}};
  app.with_broker(broker(project), [](auto& on) { on.subscribe("orders", fine).retry_to("elsewhere"); });
  EXPECT_FALSE(testing::test_service::start(app));
}

TEST(in_process, a_handler_takes_the_fields_of_a_delivery) {
  service app{{.title = "orders"}};
  std::string seen;
  app.with_broker(broker(project), [&seen](auto& on) {
    on.subscribe("orders", [&seen](const order&, field<message_id> id, context& ctx) {
      seen = std::string(*id) + " " + std::string(*ctx.field(ordering_key));
      return ack();
    });
  });
  testing::test_service t(app);
  header_map key;
  key.set(partition_key_header, "customer-7");
  t.publish("orders", order{7}, key);
  EXPECT_EQ(seen, "1 customer-7");
}

} // namespace
} // namespace millrace::pubsub::test
