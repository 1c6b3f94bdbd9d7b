#include "delivery_types.hpp"

#include <gtest/gtest.h>

using namespace delivery;

namespace {

enum class level { low, high };
BOOST_DESCRIBE_ENUM(level, low, high)

struct tenant_headers {
  std::string tenant_id;
  level urgency = level::low;
  std::optional<int> hops;
};
BOOST_DESCRIBE_STRUCT(tenant_headers, (), (tenant_id, urgency, hops))

/// Lets only known users through.
struct user {
  std::string name;
  static std::expected<user, millrace::outcome> extract(millrace::context& ctx) {
    const auto name = ctx.headers().get("user");
    if (!name) return std::unexpected(millrace::drop());
    return user{std::string(*name)};
  }
};

struct prices {
  int tea = 3;
};

} // namespace

// core 2.3
TEST(Extractors, give_a_handler_fields_headers_and_its_own_types) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", [log](const order& o, millrace::field<millrace::memory::sequence> at,
                                 const millrace::typed_headers<tenant_headers>& h, const user& u,
                                 millrace::context& ctx) {
    log->push_back(std::to_string(o.id) + " " + std::to_string(*at) + " " + h->tenant_id + " " +
                   (h->urgency == level::high ? "high" : "low") + " " + std::to_string(h->hops.value_or(-1)) + " " +
                   u.name + " " + std::string(ctx.subject()));
  });
  test_service t(s.app);
  millrace::header_map headers;
  headers.set("Tenant-Id", "t1");
  headers.set("urgency", "high");
  headers.set("user", "ann");
  t.publish("orders", order{7, "tea"}, headers);
  EXPECT_EQ(*log, std::vector<std::string>{"7 1 t1 high -1 ann orders"});
}

TEST(Extractors, one_that_fails_settles_and_the_handler_is_not_called) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", [log](const order&, const user& u) { log->push_back(u.name); });
  test_service t(s.app);
  t.publish("orders", order{7, "tea"});
  EXPECT_TRUE(log->empty());
  t.subscription("orders").settled(millrace::drop());
}

// core 3.10
TEST(Extractors, a_missing_required_header_follows_the_decode_policy_and_is_named) {
  orders_service s;
  std::vector<std::string> lines;
  millrace::set_log_sink([&](millrace::log_level, std::string_view line) { lines.emplace_back(line); });
  s.on.subscribe("orders", [](const order&, const millrace::typed_headers<tenant_headers>&) {})
      .on_undecodable(millrace::failure_policy::skip());
  test_service t(s.app);
  t.publish("orders", order{7, "tea"});
  t.subscription("orders").assert_outcome(millrace::testing::outcome_kind::decode_failure).settled(millrace::ack());
  millrace::set_log_sink({});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("orders"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("tenant-id"), std::string::npos) << lines[0];
}

TEST(Extractors, a_header_that_does_not_parse_is_named) {
  tenant_headers into;
  millrace::header_map headers;
  headers.set("tenant-id", "t");
  headers.set("urgency", "sometimes");
  const auto read = millrace::read_headers(headers, into);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("urgency"), std::string::npos);
  headers.set("urgency", "low");
  headers.set("hops", "3x");
  EXPECT_FALSE(millrace::read_headers(headers, into));
}

TEST(Extractors, typed_headers_travel_and_come_back) {
  millrace::header_map headers;
  tenant_headers sent{"t9", level::high, 4};
  millrace::write_headers(sent, headers);
  tenant_headers got;
  ASSERT_TRUE(millrace::read_headers(headers, got));
  EXPECT_EQ(got.tenant_id, "t9");
  EXPECT_EQ(got.urgency, level::high);
  EXPECT_EQ(got.hops, 4);
}

// core 2.4
TEST(Extractors, the_state_is_read_by_its_type) {
  millrace::service<prices> app{{.title = "priced"}};
  app.on_startup([]() -> millrace::task<millrace::result<prices>> { co_return prices{5}; });
  auto on = app.with_broker(millrace::memory::broker{});
  auto log = make_log();
  on.subscribe("orders", [log](const order&, const prices& p) { log->push_back(std::to_string(p.tea)); });
  test_service t(app);
  t.publish("orders", order{7, "tea"});
  EXPECT_EQ(*log, std::vector<std::string>{"5"});
}

// core 3.11
TEST(Extractors, header_edits_of_middleware_stay_in_their_delivery) {
  class editing final : public millrace::interceptor {
   public:
    std::optional<millrace::outcome> before(millrace::context& ctx) override {
      if (!ctx.headers().contains("seen")) ctx.edit_headers().set("user", "edited");
      return std::nullopt;
    }
  };
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders",
                 [log](const order&, millrace::context& ctx) {
                   log->push_back(std::string(ctx.headers().get("user").value_or("none")));
                 })
      .use(editing());
  s.on.subscribe(millrace::memory::topic("orders"),
                 [log](const order&, millrace::context& ctx) {
                   log->push_back(std::string(ctx.headers().get("user").value_or("none")));
                 })
      .named("sibling");
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  millrace::header_map seen;
  seen.set("seen", "1");
  t.publish("orders", order{2, "tea"}, seen);
  EXPECT_EQ(*log, (std::vector<std::string>{"edited", "none", "none", "none"}));
}
