// What depends on the server's settings, which only the server that is lent may change.
#include "server/live_server.hpp"

#include <gtest/gtest.h>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

/// Settings of the server's application `rabbit`, until it goes out of scope.
class changed_settings {
 public:
  changed_settings(const fragile_server& at, const std::vector<std::pair<std::string, std::string>>& values) : at_(at) {
    for (const auto& [name, value] : values) {
      const std::string before = at.eval("application:get_env(rabbit, " + name + ")");
      undo_ += undo_.empty() ? "" : ", ";
      undo_ += before == "undefined" ? unset(name) : set(name, "element(2, " + before + ")");
      at.eval(set(name, value));
    }
  }
  ~changed_settings() { at_.eval(undo_); }
  changed_settings(const changed_settings&) = delete;
  changed_settings& operator=(const changed_settings&) = delete;

 private:
  static std::string set(const std::string& name, const std::string& value) {
    return std::string("application:set_env(rabbit, ").append(name).append(", ").append(value).append(")");
  }
  static std::string unset(const std::string& name) {
    return std::string("application:unset_env(rabbit, ").append(name).append(")");
  }

  const fragile_server& at_;
  std::string undo_;
};

/// Scenario 34: no channel is left. The subscription and the publisher that need one more are refused and told why;
/// what is open goes on.
TEST(rabbitmq_settings, a_connection_without_free_channels_refuses_one_more_and_goes_on) {
  const fragile_server server;
  const changed_settings few(server, {{"channel_max", "3"}}); // that of plain publishes, and two subscriptions
  client c(broker(server.url()));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  waiting_sink to;
  const std::string name = fresh_name("few");
  const auto open = c.open(client::temporary(name), to);
  waiting_sink beside;
  const auto second = c.open(client::temporary(name + ".beside"), beside);
  ASSERT_TRUE(open && second);
  waiting_sink unused;
  const auto third = c.open(client::temporary(name + ".third"), unused);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error(), rabbitmq::errc::subscribe);
  EXPECT_NE(third.error().message().find("no free channel"), std::string::npos) << third.error().message();
  EXPECT_EQ(c.send(*c.pair(confirms()), name, "x").error(), rabbitmq::errc::publish);
  ASSERT_TRUE(c.send(*c.pair(publish()), name, "y"));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), "y");
  EXPECT_TRUE(settle(m));
}

/// Scenario 19: a handler takes longer than the server allows. The server closes its channel and no other; what was
/// held comes again, and its old settlement is refused.
TEST(rabbitmq_settings, a_handler_slower_than_the_servers_consumer_timeout_gets_its_message_again) {
  const fragile_server server;
  const changed_settings quick(server, {{"consumer_timeout", "300"}, {"channel_tick_interval", "100"}});
  client c(broker(server.url()).backoff(20ms, 200ms));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  waiting_sink to;
  const std::string name = fresh_name("slow");
  const auto open = c.open(queue(name).argument("x-expires", 60'000).with_topology(topology::declare), to);
  ASSERT_TRUE(open) << open.error().message();
  ASSERT_TRUE(c.send(*c.pair(confirms()), name, "x"));
  incoming* held = to.next();
  ASSERT_NE(held, nullptr);
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_NE(to.first_told().find("PRECONDITION_FAILED"), std::string::npos) << to.first_told();
  EXPECT_TRUE(to.told("resumed"));
  EXPECT_EQ(held->settle({}).error(), millrace::errc::closed);
  held->release();
  incoming* again = to.next();
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(*static_cast<const bool*>(again->field(redelivered)));
  EXPECT_TRUE(settle(again));
}

} // namespace
} // namespace millrace::rabbitmq::testing
