// core 2.5, 2.12: failure policies and continuations.
#include "fixture.hpp"

using namespace memory_test;

namespace {

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))

struct policies : service_on_memory {
  int calls = 0;
  registration& failing() {
    return on.subscribe("orders", [this](const order&) {
      ++calls;
      throw std::runtime_error("boom");
    });
  }
  registration& decoding() {
    return on.subscribe("orders", [this](const order&) { ++calls; });
  }
  static constexpr const char* good = R"({"id":1})";
  static constexpr const char* bad = R"({"id":"one"})";
};

struct continuations : service_on_memory {
  texts ran;
  auto note(std::string what) {
    return [this, what] { ran.push_back(what); };
  }
  void handle(std::function<outcome(context&)> f) {
    on.subscribe("orders", [f](bytes_view, context& ctx) { return ctx.attempt() > 1 ? ack() : f(ctx); });
    start();
    publish("orders", "x");
    advance(1min);
    std::ranges::sort(ran);
  }
};

} // namespace

// core 3.13: the message is left unsettled, the hooks run, the run answers an error that names the subscription.
TEST_F(policies, fail_fast_is_the_default_for_an_exception) {
  bool hooked = false;
  app.on_shutdown([&]() -> task<result<void>> {
    hooked = true;
    co_return result<void>{};
  });
  failing();
  start();
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(enqueue("orders", good)); // more wait: they go back, and are not handled
  react();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(run->stopping().is_set());
  EXPECT_EQ(run->health().read().state, service_state::failed);
  const auto stopped = stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error(), errc::handler);
  EXPECT_TRUE(stopped.error().message().contains("subscription 'orders': boom")) << stopped.error().message();
  EXPECT_TRUE(hooked);
  EXPECT_EQ(calls, 1);
}
// Unsettled means that the message is delivered again: here to the other member of the group.
TEST_F(policies, fail_fast_leaves_the_message_to_others) {
  int good_calls = 0;
  on.subscribe(memory::topic("orders").group("g"), [](bytes_view) { throw std::runtime_error("boom"); }).named("bad");
  on.subscribe(memory::topic("orders").group("g"), [&](bytes_view) { ++good_calls; }).named("good");
  start();
  publish("orders", "x");
  EXPECT_TRUE(run->failure());
  EXPECT_EQ(good_calls, 1);
  EXPECT_FALSE(stop());
}
TEST_F(policies, drop_ends_the_message) {
  failing().on_exception(failure_policy::drop());
  start();
  publish("orders", good);
  publish("orders", good);
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(run->failure());
}
TEST_F(policies, skip_acknowledges_and_goes_on) { // core 3.14
  failing().on_exception(failure_policy::skip());
  start();
  publish("orders", good);
  publish("orders", good);
  EXPECT_EQ(calls, 2);
}
TEST_F(policies, retry_delivers_again_until_the_cap) {
  failing().on_exception(failure_policy::retry()).max_attempts(4);
  start();
  publish("orders", good);
  EXPECT_EQ(calls, 4);
}
TEST_F(policies, retry_after_waits) {
  failing().on_exception(failure_policy::retry_after(10s)).max_attempts(2);
  start();
  publish("orders", good);
  advance(10s - 1ns);
  EXPECT_EQ(calls, 1);
  advance(1ns);
  EXPECT_EQ(calls, 2);
}

// core 3.8
TEST_F(policies, an_undecodable_payload_is_dropped_by_default_with_the_members_name) {
  decoding();
  start();
  publish("orders", bad);
  publish("orders", good);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(log.count(log_level::warning, "'orders'", "undecodable", "id"), 1U);
}
// core 3.9
TEST_F(policies, an_undecodable_payload_may_stop_the_service) {
  decoding().on_undecodable(failure_policy::fail_fast());
  start();
  publish("orders", bad);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(stop().error(), errc::handler);
}
TEST_F(policies, an_undecodable_payload_may_be_retried_until_the_cap) {
  texts dead;
  collect(memory::topic("dead"), dead);
  decoding().on_undecodable(failure_policy::retry()).max_attempts(3).dead_letter("dead");
  start();
  publish("orders", bad);
  EXPECT_EQ(dead, texts{bad});
  EXPECT_EQ(log.count(log_level::warning, "undecodable"), 3U);
}
TEST_F(policies, an_undecodable_payload_may_be_retried_later_or_skipped) {
  decoding().on_undecodable(failure_policy::retry_after(1min)).max_attempts(2);
  on.subscribe("skipped", [this](const order&) { ++calls; }).on_undecodable(failure_policy::skip());
  start();
  publish("orders", bad);
  publish("skipped", bad);
  EXPECT_EQ(log.count(log_level::warning, "undecodable"), 2U);
  advance(1min);
  EXPECT_EQ(log.count(log_level::warning, "undecodable"), 3U);
  EXPECT_EQ(calls, 0);
}

// A wait that the stopping service gives up is no failure of the handler: the message stays unsettled.
TEST_F(policies, a_handler_that_sleeps_when_the_shutdown_gives_up_is_no_failure) {
  bool returned = false;
  app.shutdown_timeout(2s);
  on.subscribe("orders", [&](bytes_view, context& ctx) -> task<> {
    ++calls;
    co_await ctx.sleep_for(1h);
    returned = true;
  });
  start();
  publish("orders", "x");
  const time_point began = rt.now();
  const auto stopped = stop();
  EXPECT_TRUE(stopped) << stopped.error().message();
  EXPECT_LE(rt.now() - began, 5s);
  EXPECT_FALSE(returned);
  EXPECT_EQ(log.count(log_level::error), 0U);
  EXPECT_EQ(run->left_running(), 0U);
}

// core 3.7
TEST_F(continuations, are_gated_by_the_kind_of_the_settlement) {
  handle([this](context& ctx) {
    ctx.after_settle(note("any"));
    ctx.after_ack(note("ack"));
    ctx.after(settlement_kind::drop, note("drop"));
    ctx.after(settlement_kind::retry, note("retry"));
    ctx.after(settlement_kind::retry_after, note("later"));
    return drop();
  });
  EXPECT_EQ(ran, (texts{"any", "drop"}));
}
TEST_F(continuations, a_delayed_retry_is_a_kind_of_its_own) {
  handle([this](context& ctx) {
    ctx.after(settlement_kind::retry, note("retry"));
    ctx.after(settlement_kind::retry_after, note("later"));
    return retry_after(1s);
  });
  EXPECT_EQ(ran, texts{"later"});
}
TEST_F(continuations, of_the_outcome_and_of_the_context_all_run_once) {
  handle([this](context& ctx) {
    ctx.after_settle(note("context"));
    return ack().then(note("first")).then([this]() -> task<> {
      co_await sleep_for(rt, 1s);
      ran.emplace_back("second");
    });
  });
  EXPECT_EQ(ran, (texts{"context", "first", "second"}));
}
// core 3.7
TEST_F(continuations, one_that_throws_neither_redelivers_nor_stops_the_loop) {
  int calls = 0;
  on.subscribe("orders", [&](bytes_view) {
    ++calls;
    return ack().then([]() { throw std::runtime_error("in the hook"); });
  });
  start();
  publish("orders", "x");
  publish("orders", "x");
  advance(1min);
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(run->failure());
  EXPECT_EQ(log.count(log_level::error, "in the hook"), 2U);
}
// core 3.6
TEST_F(continuations, do_not_run_when_the_settlement_failed) {
  event open(rt);
  on.subscribe("orders", [&](bytes_view, context& ctx) -> task<outcome> {
    ctx.after_settle(note("context"));
    co_await open.wait();
    co_return ack().then(note("outcome"));
  });
  app.shutdown_timeout(1s);
  start();
  publish("orders", "x");
  EXPECT_FALSE(stop()); // the handler is left behind
  open.set();
  react();
  EXPECT_TRUE(ran.empty());
  EXPECT_EQ(log.count(log_level::warning, "'orders'", "closed"), 1U); // L4
}
TEST_F(continuations, do_not_run_for_a_message_that_stays_unsettled) {
  on.subscribe("orders", [this](bytes_view, context& ctx) {
    ctx.after_settle(note("context"));
    throw std::runtime_error("boom");
  });
  start();
  publish("orders", "x");
  EXPECT_TRUE(run->failure());
  EXPECT_TRUE(ran.empty());
}
TEST_F(continuations, a_shutdown_waits_for_them) {
  on.subscribe("orders", [this](bytes_view) {
    return ack().then([this]() -> task<> {
      co_await sleep_for(rt, 5s);
      ran.emplace_back("done");
    });
  });
  start();
  publish("orders", "x");
  EXPECT_TRUE(stop());
  EXPECT_EQ(ran, texts{"done"});
}
