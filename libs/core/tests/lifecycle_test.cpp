// core 2.24, 2.25 and the lifecycle's rules for all brokers.
#include "scripted_broker.hpp"

#include <gtest/gtest.h>

using namespace core_test;

namespace {

struct lifecycle : ::testing::Test {
  scripted_rig r;
  std::vector<std::string>& journal = r.broker->journal;

  service_hook note(std::string what) {
    return [this, what]() -> task<result<void>> {
      journal.push_back(what);
      co_return result<void>{};
    };
  }
  service_hook fails(std::string what) {
    return [this, what]() -> task<result<void>> {
      journal.push_back(what);
      co_return fail(errc::handler, what + " broke");
    };
  }
  service_hook throws(std::string what) {
    return [what]() -> task<result<void>> {
      throw std::runtime_error(what + " threw");
      co_return result<void>{};
    };
  }
  void consume(std::string name) {
    r.subscribe(std::move(name), [](bytes_view) {});
  }
};
using texts = std::vector<std::string>;

} // namespace

// L1: building a service does no I/O.
TEST_F(lifecycle, L1_building_a_service_does_no_io) {
  consume("orders");
  static_cast<void>(r.on->publisher());
  EXPECT_TRUE(r.app.core()->check());
  EXPECT_TRUE(journal.empty());
}

// core 2.24, 3.59
TEST_F(lifecycle, hooks_run_in_their_order) {
  consume("orders");
  r.app.on_startup(note("startup 1")).on_startup(note("startup 2")).after_startup(note("running"));
  r.on->after_startup(note("scope"));
  r.app.on_shutdown(note("stopping 1")).on_shutdown(note("stopping 2")).after_shutdown(note("stopped"));
  ASSERT_TRUE(r.start());
  EXPECT_EQ(journal, (texts{"startup 1", "startup 2", "connect scripted", "open orders", "scope", "running"}));
  EXPECT_EQ(r.run().health().read().state, service_state::running);
  journal.clear();
  ASSERT_TRUE(r.stop());
  EXPECT_EQ(journal, (texts{"stopping 1", "stopping 2", "stop orders", "shutdown scripted", "stopped"}));
  EXPECT_EQ(r.run().health().read().state, service_state::stopped);
}

// core 3.58
TEST_F(lifecycle, a_startup_hook_that_fails_dials_nobody) {
  r.app.on_startup(fails("config"));
  const auto started = r.start();
  ASSERT_FALSE(started);
  EXPECT_TRUE(started.error().message().contains("startup hook: config broke")) << started.error().message();
  EXPECT_EQ(journal, texts{"config"});
  EXPECT_EQ(r.run().health().read().state, service_state::failed);
}
TEST_F(lifecycle, a_startup_hook_that_throws_is_an_error) {
  r.app.on_startup(throws("config"));
  EXPECT_TRUE(message_of(r.start()).contains("startup hook: config threw"));
}

// core 3.58: the first broker is closed when the second cannot connect.
TEST_F(lifecycle, L2_a_broker_that_cannot_connect_closes_the_ones_before_it) {
  const auto second = std::make_shared<script>();
  second->name = "second";
  second->on_connect = [] { return fail(errc::connect, "refused"); };
  static_cast<void>(r.app.with_broker(scripted_broker(second)));
  const auto started = r.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::connect);
  EXPECT_TRUE(started.error().message().contains("broker 'second'")) << started.error().message();
  EXPECT_EQ(r.broker->times("shutdown scripted"), 1U);
  EXPECT_EQ(second->times("shutdown second"), 0U);
}

TEST_F(lifecycle, L2_the_first_subscription_that_cannot_open_aborts_the_start) {
  consume("orders");
  r.subscribe("missing", [](bytes_view) {}).named("audit");
  consume("never");
  r.broker->on_open = [](const std::string& name) -> result<void> {
    if (name == "missing") return fail(errc::subscribe, "no such queue");
    return {};
  };
  const auto started = r.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::subscribe);
  EXPECT_TRUE(started.error().message().contains("subscription 'audit'")) << started.error().message();
  EXPECT_EQ(journal, (texts{"connect scripted", "open orders", "open missing", "stop orders", "shutdown scripted"}));
}

TEST_F(lifecycle, L2_the_broker_hears_of_every_registration_before_the_first_one_opens) {
  consume("orders");
  r.subscribe("payments", [](bytes_view) {}).named("audit");
  std::vector<std::string> declared;
  r.broker->on_declare = [&](const std::string& what) -> result<void> {
    declared.push_back(what);
    if (declared.size() == 2) return fail(errc::invalid_options, "contradicts 'orders'");
    return {};
  };
  const auto started = r.start();
  ASSERT_FALSE(started);
  EXPECT_TRUE(started.error().message().contains("subscription 'audit'")) << started.error().message();
  EXPECT_EQ(declared, (texts{"orders as orders", "payments as audit"}));
  EXPECT_EQ(journal, (texts{"connect scripted", "shutdown scripted"}));
}

// core 3.59
TEST_F(lifecycle, an_after_startup_hook_that_fails_takes_everything_back) {
  consume("orders");
  r.app.after_startup(fails("warm-up"));
  EXPECT_TRUE(message_of(r.start()).contains("after-startup hook: warm-up broke"));
  EXPECT_EQ(journal, (texts{"connect scripted", "open orders", "warm-up", "stop orders", "shutdown scripted"}));
}
TEST_F(lifecycle, shutdown_hooks_that_fail_are_logged_and_the_rest_runs) {
  r.app.on_shutdown(fails("flush")).on_shutdown(throws("flush")).on_shutdown(note("still"));
  r.app.after_shutdown(fails("bye")).after_shutdown(note("last"));
  ASSERT_TRUE(r.start());
  EXPECT_TRUE(r.stop());
  EXPECT_EQ(journal, (texts{"connect scripted", "flush", "still", "shutdown scripted", "bye", "last"}));
  EXPECT_EQ(r.log.count(log_level::error, "shutdown hook: flush broke"), 1U);
  EXPECT_EQ(r.log.count(log_level::error, "shutdown hook: flush threw"), 1U);
  EXPECT_EQ(r.log.count(log_level::error, "after-shutdown hook: bye broke"), 1U);
}

// core 3.59: brokers close in the reverse of their order, and every one is tried.
TEST_F(lifecycle, brokers_close_in_reverse_and_all_of_them) {
  const auto second = std::make_shared<script>();
  second->name = "second";
  second->on_shutdown = [&] {
    journal.emplace_back("shutdown second");
    return fail(errc::shutdown, "no answer to the close");
  };
  static_cast<void>(r.app.with_broker(scripted_broker(second)));
  ASSERT_TRUE(r.start());
  const auto stopped = r.stop();
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(stopped.error().message().contains("broker 'second'")) << stopped.error().message();
  EXPECT_EQ(journal, (texts{"connect scripted", "shutdown second", "shutdown scripted"}));
  EXPECT_EQ(r.run().health().read().state, service_state::failed);
}

// core 3.60: a message published right after the start is received.
TEST_F(lifecycle, start_returns_when_every_subscription_is_open) {
  int calls = 0;
  r.subscribe("orders", [&](bytes_view) { ++calls; });
  ASSERT_TRUE(r.start());
  r.deliver("orders", "x");
  EXPECT_EQ(calls, 1);
}

TEST_F(lifecycle, the_health_probe_outlives_the_service) {
  consume("orders");
  ASSERT_TRUE(r.start());
  const auto probe = r.run().health();
  EXPECT_TRUE(probe.healthy());
  ASSERT_TRUE(r.stop());
  r.destroy();
  EXPECT_FALSE(probe.healthy());
  EXPECT_EQ(probe.read().state, service_state::stopped);
  EXPECT_EQ(probe.read().active, 0U);
}

TEST_F(lifecycle, a_broker_under_a_label_is_named_by_it) {
  const auto second = std::make_shared<script>();
  second->on_connect = [] { return fail(errc::connect, "refused"); };
  static_cast<void>(r.app.with_broker("billing", scripted_broker(second)));
  EXPECT_TRUE(message_of(r.start()).contains("broker 'billing'"));
}

namespace {
struct settings {
  int limit = 0;
};
} // namespace

TEST(state, handlers_read_what_the_startup_hook_built) {
  const auto broker = std::make_shared<script>();
  virtual_runtime rt;
  service<settings> app{service_info{"stateful"}};
  app.on_startup([]() -> task<result<settings>> { co_return settings{42}; });
  auto on = app.with_broker(scripted_broker(broker));
  int seen = 0;
  on.subscribe(scripted_topic("orders", broker), [&](bytes_view, const settings& s) { seen = s.limit; });
  service_run run(app.core(), rt);
  ASSERT_TRUE(rt.drive(run.start(connect_mode::live)));
  broker->deliver("orders", "x");
  ASSERT_TRUE(rt.run());
  EXPECT_EQ(seen, 42);
  EXPECT_TRUE(rt.drive(run.shutdown()));
}

// core 3.58, whatever is thrown
TEST(state, a_hook_that_throws_anything_dials_nobody) {
  const auto broker = std::make_shared<script>();
  virtual_runtime rt;
  service<settings> app{service_info{"stateful"}};
  app.on_startup([]() -> task<result<settings>> {
    throw 5;
    co_return settings{};
  });
  static_cast<void>(app.with_broker(scripted_broker(broker)));
  service_run run(app.core(), rt);
  const auto started = rt.drive(run.start(connect_mode::live));
  ASSERT_FALSE(started);
  EXPECT_TRUE(started.error().message().contains("startup hook")) << started.error().message();
  EXPECT_TRUE(broker->journal.empty());
}
