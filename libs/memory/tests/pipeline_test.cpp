#include "delivery_types.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

using namespace delivery;

namespace {

struct billing_headers {
  std::string tenant;
};
BOOST_DESCRIBE_STRUCT(billing_headers, (), (tenant))

struct invoice {
  static constexpr std::string_view destination = "invoices";
  int total = 0;
};
BOOST_DESCRIBE_STRUCT(invoice, (), (total))

struct regional {
  static constexpr millrace::address_template destination{"orders.{region}.{city}"};
  using headers = billing_headers;
  int total = 0;
};
BOOST_DESCRIBE_STRUCT(regional, (), (total))

struct audit {
  static constexpr std::string_view name = "audit";
  using messages = millrace::messages<invoice>;
};

using publisher = millrace::publisher<millrace::memory::publish>;
using sent = millrace::result<millrace::receipt>;

millrace::task<sent> send_fixed(publisher pub) {
  const invoice i{12};
  auto done = co_await pub.message(i);
  co_return done;
}

millrace::task<sent> send_regional(publisher pub, std::string region) {
  const regional r{3};
  const billing_headers h{"t1"};
  auto done = co_await pub.message(r).fill<"city">("oslo").fill<"region">(region).headers(h);
  co_return done;
}

millrace::task<sent> send_text(publisher pub, std::string text) {
  auto done = co_await pub.text(text).to("out").header("k", "call").header("call", "1");
  co_return done;
}

/// Tries a failed publish once more.
class once_more final : public millrace::publish_layer {
 public:
  explicit once_more(log_lines log) : log_(std::move(log)) {}
  millrace::task<sent> around(millrace::publish_draft& draft, millrace::next_publish next) override {
    log_->push_back("retry>" + std::string(draft.destination()));
    auto first = co_await next();
    if (first) co_return first;
    auto second = co_await next();
    co_return second;
  }

 private:
  log_lines log_;
};

class flaky final : public millrace::publish_layer {
 public:
  explicit flaky(log_lines log) : log_(std::move(log)) {}
  millrace::task<sent> around(millrace::publish_draft&, millrace::next_publish next) override {
    log_->push_back("flaky");
    if (log_->size() == 2) co_return millrace::fail(millrace::errc::publish, "flaky");
    auto done = co_await next();
    co_return done;
  }

 private:
  log_lines log_;
};

} // namespace

// core 2.15
TEST(Publishing, a_type_says_where_it_goes) {
  orders_service s;
  auto pub = s.on.publisher();
  test_service t(s.app);
  ASSERT_TRUE(t.drive(send_fixed(pub)));
  t.published("invoices").once().with_text(R"({"total":12})");
}

// core 3.42
TEST(Publishing, placeholders_and_declared_headers_are_filled_in) {
  orders_service s;
  auto pub = s.on.publisher();
  test_service t(s.app);
  ASSERT_TRUE(t.drive(send_regional(pub, "north")));
  t.published("orders.north.oslo").once().header("tenant", "t1");
}

// core 3.42
TEST(Publishing, a_value_that_would_change_the_address_is_refused_and_named) {
  orders_service s;
  auto pub = s.on.publisher();
  test_service t(s.app);
  for (const char* bad : {"a.b", "*", "", "a b", ">"}) {
    const auto done = t.drive(send_regional(pub, bad));
    ASSERT_FALSE(done) << bad;
    EXPECT_TRUE(done.error() == millrace::errc::invalid_options);
    EXPECT_NE(done.error().message().find("region"), std::string::npos) << done.error().message();
  }
}

// core 3.43
TEST(Publishing, headers_of_the_call_override_the_base_and_transforms_override_both) {
  orders_service s;
  auto pub = s.on.publisher();
  pub.base_header("k", "base")
      .base_header("base", "1")
      .transform([](millrace::publish_draft& d) -> millrace::result<void> {
        EXPECT_EQ(d.headers().get("k"), "call");
        d.headers().set("k", "transform");
        return {};
      });
  test_service t(s.app);
  ASSERT_TRUE(t.drive(send_text(pub, "x")));
  t.published("out").once().header("k", "transform").header("base", "1").header("call", "1");
}

// core 3.45
TEST(Publishing, transforms_run_in_order_then_layers_the_last_one_outermost) {
  orders_service s;
  auto log = make_log();
  s.app.use(flaky(log)).use(once_more(log));
  auto pub = s.on.publisher();
  pub.transform([](millrace::publish_draft& d) -> millrace::result<void> {
    d.headers().set("path", "a");
    return {};
  });
  pub.transform([](millrace::publish_draft& d) -> millrace::result<void> {
    d.set_destination(std::string(d.headers().get("path").value_or("")) + "b");
    return {};
  });
  test_service t(s.app);
  ASSERT_TRUE(t.drive(send_text(pub, "x")));
  EXPECT_EQ(*log, (std::vector<std::string>{"retry>ab", "flaky", "flaky"}));
  t.published("ab").once();
}

// core 3.48
TEST(Publishing, two_transforms_that_name_the_destination_are_an_error) {
  orders_service s;
  auto pub = s.on.publisher();
  for (const char* name : {"a", "b"}) {
    pub.transform([name](millrace::publish_draft& d) -> millrace::result<void> {
      d.set_destination(name);
      return {};
    });
  }
  test_service t(s.app);
  const auto done = t.drive(send_text(pub, "x"));
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error() == millrace::errc::invalid_options);
}

TEST(Publishing, a_transform_that_fails_stops_the_publish) {
  orders_service s;
  auto pub = s.on.publisher();
  pub.transform(
      [](millrace::publish_draft&) -> millrace::result<void> { return millrace::fail(millrace::errc::publish, "no"); });
  test_service t(s.app);
  EXPECT_FALSE(t.drive(send_text(pub, "x")));
  t.published("out").none();
}

// core 3.46: unlike RustStream's, transactions and requests go through the pipeline
TEST(Publishing, requests_go_through_layers_and_transforms) {
  orders_service s;
  auto log = make_log();
  s.app.use(once_more(log));
  auto pub = s.on.publisher();
  pub.transform([](millrace::publish_draft& d) -> millrace::result<void> {
    d.headers().set("mark", "1");
    return {};
  });
  s.on.subscribe("ask",
                 [](const order& o, millrace::context& ctx) {
                   return order{o.id + 1, std::string(ctx.headers().get("mark").value_or("no"))};
                 })
      .reply_to_sender();
  test_service t(s.app);
  const auto ask = [](publisher p) -> millrace::task<std::string> {
    const order o{1, "x"};
    auto answer = co_await p.message(o).to("ask").request(1s);
    co_return answer ? answer->payload : answer.error().message();
  };
  EXPECT_EQ(t.drive(ask(pub)), R"({"id":2,"item":"1"})");
  EXPECT_EQ(log->front(), "retry>ask");
}

// core 2.14, 2.19
TEST(Outputs, lead_to_another_broker_of_the_service) {
  millrace::service app{{.title = "bridge"}};
  auto in = app.with_broker("in", millrace::memory::broker{"one"});
  auto other = app.with_broker("other", millrace::memory::broker{"two"});
  auto seen = make_log();
  in.subscribe("orders", [](const order& o, millrace::out<audit> to) -> millrace::task<millrace::outcome> {
      const invoice i{o.id};
      auto done = co_await to.message(i);
      co_return done ? millrace::ack() : millrace::retry();
    }).bind<audit>(other.publisher());
  other.subscribe("invoices", [seen](const invoice& i) { seen->push_back(std::to_string(i.total)); });
  test_service t(app);
  t.broker("in").publish("orders", order{9, "tea"});
  EXPECT_EQ(*seen, std::vector<std::string>{"9"});
}

namespace {

/// Writes the total alone.
struct plain_codec {
  static constexpr std::string_view content_type = "text/plain";
  static millrace::result<void> encode(const invoice& i, millrace::byte_buffer& into) {
    into = std::to_string(i.total);
    return {};
  }
};

millrace::task<millrace::outcome> invoice_twice(const order& o, millrace::out<audit> to) {
  const invoice i{o.id};
  auto chosen_by_the_mount = co_await to.message(i);
  auto chosen_by_the_call = co_await to.message<millrace::json_codec>(i);
  co_return chosen_by_the_mount&& chosen_by_the_call ? millrace::ack() : millrace::drop();
}

} // namespace

// core 2.14, 2.20: the mount chooses the codec, a call may name another one
TEST(Outputs, are_written_in_the_codec_of_their_binding) {
  orders_service s;
  s.on.subscribe("orders", invoice_twice).bind<audit, plain_codec>(s.on.publisher());
  test_service t(s.app);
  t.publish("orders", order{9, "tea"});
  const auto left = t.published("invoices").count(2).messages();
  EXPECT_EQ(left[0].payload, "9");
  EXPECT_EQ(left[0].headers.get("content-type"), "text/plain");
  EXPECT_EQ(left[1].payload, R"({"total":9})");
  EXPECT_FALSE(left[1].headers.contains("content-type"));
}

// core 3.49
TEST(Outputs, one_that_is_not_bound_is_refused_before_any_io_and_named) {
  orders_service s;
  s.on.subscribe("orders", [](const order&, millrace::out<audit>) {});
  const auto checked = s.app.core()->check();
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message().find("audit"), std::string::npos) << checked.error().message();
}

// core 3.41
TEST(Replies, a_destination_that_the_type_fixes_beats_the_mounts) {
  orders_service s;
  s.on.subscribe("orders", [](const order& o) { return invoice{o.id}; }).reply("elsewhere");
  test_service t(s.app);
  t.publish("orders", order{4, "tea"});
  t.published("invoices").once().with_text(R"({"total":4})");
  t.published("elsewhere").none();
}

// core 3.41
TEST(Replies, a_type_with_a_destination_needs_no_reply_at_the_mount) {
  orders_service s;
  s.on.subscribe("orders", [](const order& o) { return invoice{o.id}; });
  test_service t(s.app);
  t.publish("orders", order{4, "tea"});
  t.published("invoices").once();
}

// core 3.41: transforms of a reply are its registration's alone
TEST(Replies, transforms_do_not_touch_the_publisher_that_replies_leave_through) {
  orders_service s;
  auto pub = s.on.publisher();
  s.on.subscribe("orders", [](const order& o) { return o; })
      .reply("copies",
             [](millrace::publish_draft& d) -> millrace::result<void> {
               d.headers().set("from", d.origin()->subject());
               return {};
             })
      .reply_through(pub);
  test_service t(s.app);
  ASSERT_TRUE(t.drive(send_text(pub, "x")));
  t.publish("orders", order{4, "tea"});
  t.published("copies").once().header("from", "orders");
}

// core 3.41
TEST(Replies, see_the_origin_in_the_replys_transforms) {
  orders_service s;
  s.on.subscribe("orders", [](const order& o) { return o; })
      .reply("copies", [](millrace::publish_draft& d) -> millrace::result<void> {
        d.headers().set("traceparent", d.origin()->headers().get("traceparent").value_or("none"));
        return {};
      });
  test_service t(s.app);
  millrace::header_map trace;
  trace.set("traceparent", "00-1");
  t.publish("orders", order{1, "tea"}, trace);
  t.published("copies").once().header("traceparent", "00-1");
}

// core 2.11, and more than RustStream's: a dead letter says why, how often and where from
TEST(DeadLetters, explain_themselves_where_the_registration_asks_for_it) {
  orders_service s;
  s.on.subscribe("orders", [](const order&) -> millrace::outcome { throw std::runtime_error("no stock"); })
      .max_attempts(2)
      .dead_letter("orders.dead")
      .explain_dead_letters()
      .on_exception(millrace::failure_policy::retry());
  test_service t(s.app);
  t.publish("orders", order{4, "tea"});
  t.published("orders.dead")
      .once()
      .header("x-millrace-dead-letter-reason", "no stock")
      .header("x-millrace-dead-letter-attempts", "2")
      .header("x-millrace-dead-letter-origin", "orders")
      .header("x-millrace-dead-letter-subscription", "orders");
}

namespace {

struct trail {
  static constexpr std::string_view name = "trail";
  using messages = millrace::messages<order>;
};

} // namespace

// core 3.70
TEST(Outputs, publishes_are_attributed_to_the_output_that_they_left_through) {
  orders_service s;
  auto direct = s.on.publisher();
  s.on.subscribe("orders",
                 [direct](const order& o, millrace::out<trail> out) -> millrace::task<void> {
                   const auto first = co_await out.publish("audit", o);
                   const auto second = co_await out.publish("copies", o);
                   const auto third = co_await direct.publish("audit", o);
                   EXPECT_TRUE(first && second && third);
                 })
      .bind<trail>(s.on.publisher());
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.published_through("trail").count(2).with(order{1, "tea"});
  t.published("audit").count(2);
  EXPECT_EQ(t.published_through("trail").messages()[0].destination, "audit");
  EXPECT_EQ(t.published_through("trail").messages()[1].destination, "copies");
  t.published_through("orders").none();
}
