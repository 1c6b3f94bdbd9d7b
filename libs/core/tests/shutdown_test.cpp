// core 2.24, 3.38: a shutdown is bounded, whatever the handlers do, on the threads that production uses.
#include "support.hpp"

#include <millrace/memory.hpp>
#include <millrace/pool_runtime.hpp>

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <thread>

using namespace core_test;

namespace {

using memory_publisher = publisher<memory::publish>;

/// A gate that handlers run into. Shared with them: a handler that is left behind outlives the test's end of the
/// service.
struct gate {
  std::promise<void> entered;
  std::promise<void> open;
  std::shared_future<void> opened = open.get_future().share();
  std::promise<void> left;
};

service_hook publishes(memory_publisher to, int n) {
  return [to, n]() -> task<result<void>> {
    for (int i = 0; i < n; ++i) {
      auto sent = co_await to.text("x").to("orders");
      if (!sent) co_return fail(std::move(sent).error());
    }
    co_return result<void>{};
  };
}

/// Suspends until the test resumes it.
struct park {
  std::coroutine_handle<>& me;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { me = h; }
  void await_resume() const noexcept {}
};

template <class Future> bool in_time(Future f) { return f.wait_for(30s) == std::future_status::ready; }

struct shutdown_on_threads : ::testing::TestWithParam<unsigned> {
  log_capture log;
  std::shared_ptr<gate> g = std::make_shared<gate>();
};

task<result<void>> close_to(std::shared_ptr<std::atomic<bool>> closed) {
  *closed = true;
  co_return result<void>{};
}

} // namespace

// A handler that never comes back: the service gives it up, closes its brokers, runs its last hooks and says so.
TEST_P(shutdown_on_threads, a_handler_blocked_in_user_code_does_not_hold_it_up) {
  auto last = std::make_shared<std::atomic<bool>>(false);
  {
    service app{service_info{"blocked"}};
    app.threads(GetParam()).shutdown_timeout(100ms);
    auto on = app.with_broker(memory::broker{});
    on.subscribe("orders", [g = g](bytes_view) {
      g->entered.set_value();
      g->opened.wait();
      g->left.set_value();
    });
    app.after_startup(publishes(on.publisher(), 3));
    app.after_shutdown([last]() -> task<result<void>> { return close_to(last); });
    auto started = app.start();
    ASSERT_TRUE(started);
    ASSERT_TRUE(in_time(g->entered.get_future()));
    const auto probe = started->health();
    const auto began = std::chrono::steady_clock::now();
    const auto stopped = started->shutdown();
    EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error(), errc::shutdown);
    EXPECT_TRUE(stopped.error().message().contains("1 handlers")) << stopped.error().message();
    EXPECT_EQ(probe.read().state, service_state::failed);
    EXPECT_TRUE(*last);
  }
  g->open.set_value(); // it comes back after all: what it uses is still there
  EXPECT_TRUE(in_time(g->left.get_future()));
}

// A handler that waits on the service's clock is given up and its message stays unsettled; nothing is left behind.
TEST_P(shutdown_on_threads, a_handler_that_sleeps_is_given_up) {
  auto returned = std::make_shared<std::atomic<int>>(0);
  service app{service_info{"asleep"}};
  app.threads(GetParam()).shutdown_timeout(50ms);
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [g = g, returned](bytes_view, context& ctx) -> task<> {
    g->entered.set_value();
    co_await ctx.sleep_for(1h);
    ++*returned;
  });
  app.after_startup(publishes(on.publisher(), 2));
  auto started = app.start();
  ASSERT_TRUE(started);
  ASSERT_TRUE(in_time(g->entered.get_future()));
  const auto stopped = started->shutdown();
  EXPECT_TRUE(stopped) << stopped.error().message();
  EXPECT_EQ(*returned, 0);
}

// core 2.24: running handlers end within the timeout.
TEST_P(shutdown_on_threads, a_running_handler_ends_first) {
  auto done = std::make_shared<std::atomic<bool>>(false);
  service app{service_info{"busy"}};
  app.threads(GetParam());
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [g = g, done](bytes_view, context& ctx) -> task<> {
    g->entered.set_value();
    co_await ctx.sleep_for(30ms);
    *done = true;
  });
  app.after_startup(publishes(on.publisher(), 1));
  auto started = app.start();
  ASSERT_TRUE(started);
  ASSERT_TRUE(in_time(g->entered.get_future()));
  EXPECT_TRUE(started->shutdown());
  EXPECT_TRUE(*done);
}

// core 3.13: the service stops by itself; whoever waits is told, and the error names the subscription.
TEST_P(shutdown_on_threads, fail_fast_ends_run_until) {
  service app{service_info{"failing"}};
  app.threads(GetParam());
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](bytes_view) { throw std::runtime_error("boom"); });
  app.after_startup(publishes(on.publisher(), 5));
  std::coroutine_handle<> waiting;
  const auto ended = app.run_until([](std::coroutine_handle<>& me) -> task<> { co_await park{me}; }(waiting));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error(), errc::handler);
  EXPECT_TRUE(ended.error().message().contains("subscription 'orders'")) << ended.error().message();
  waiting.resume(); // what the service did not wait for may end later
}

/// Says when its coroutine is gone.
struct last_breath {
  std::shared_ptr<std::atomic<bool>> gone;
  explicit last_breath(std::shared_ptr<std::atomic<bool>> flag) : gone(std::move(flag)) {}
  last_breath(const last_breath&) = delete;
  last_breath& operator=(const last_breath&) = delete;
  ~last_breath() { *gone = true; }
};

TEST_P(shutdown_on_threads, what_run_until_does_not_wait_for_is_ended_with_the_service) {
  service app{service_info{"failing"}};
  app.threads(GetParam());
  auto on = app.with_broker(memory::broker{});
  auto runtimes = std::make_shared<std::promise<runtime*>>();
  on.subscribe("orders", [runtimes](bytes_view, context& ctx) {
    runtimes->set_value(&ctx.runtime());
    throw std::runtime_error("boom");
  });
  app.after_startup(publishes(on.publisher(), 1));
  auto gone = std::make_shared<std::atomic<bool>>(false);
  const auto ended = app.run_until([](auto where, auto flag) -> task<> {
    const last_breath breath(flag);
    runtime* rt = where->get_future().get();
    co_await sleep_for(*rt, 24h);
  }(runtimes, gone));
  EXPECT_FALSE(ended);
  EXPECT_TRUE(*gone);
  EXPECT_EQ(log.count(log_level::error, "run_until"), 0U);
}

// With its only handler thread held up in user code, the service is told to stop all the same.
TEST_P(shutdown_on_threads, waiting_for_the_stop_needs_no_thread_of_the_pool) {
  service app{service_info{"held up"}};
  app.threads(GetParam());
  app.shutdown_timeout(0s);
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [g = g](bytes_view, context& ctx) {
    ctx.stop_service();
    g->entered.set_value();
    g->opened.wait();
    g->left.set_value();
  });
  app.after_startup(publishes(on.publisher(), 1));
  auto started = app.start();
  ASSERT_TRUE(started);
  ASSERT_TRUE(in_time(g->entered.get_future()));
  auto told = std::async(std::launch::async, [&] { started->wait_until_stopping(); });
  EXPECT_TRUE(in_time(std::move(told)));
  EXPECT_FALSE(started->shutdown());
  g->open.set_value();
  EXPECT_TRUE(in_time(g->left.get_future()));
}

TEST_P(shutdown_on_threads, run_until_ends_with_its_task) {
  service app{service_info{"short"}};
  app.threads(GetParam());
  auto on = app.with_broker(memory::broker{});
  auto calls = std::make_shared<std::atomic<int>>(0);
  on.subscribe("orders", [calls, g = g](bytes_view) {
    ++*calls;
    g->entered.set_value();
  });
  app.after_startup(publishes(on.publisher(), 1));
  const auto ended = app.run_until([](std::shared_ptr<gate> gate) -> task<> {
    gate->entered.get_future().wait_for(30s);
    co_return;
  }(g));
  EXPECT_TRUE(ended) << ended.error().message();
  EXPECT_EQ(*calls, 1);
}

TEST_P(shutdown_on_threads, a_handler_stops_the_service) {
  service app{service_info{"self-stopping"}};
  app.threads(GetParam());
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [](bytes_view, context& ctx) { ctx.stop_service(); });
  app.after_startup(publishes(on.publisher(), 1));
  auto started = app.start();
  ASSERT_TRUE(started);
  started->wait_until_stopping();
  EXPECT_TRUE(started->shutdown());
}

TEST_P(shutdown_on_threads, many_messages_from_many_threads_are_all_handled_once) {
  constexpr int each = 500;
  service app{service_info{"many"}};
  app.threads(GetParam());
  auto on = app.with_broker(memory::broker{});
  auto calls = std::make_shared<std::atomic<int>>(0);
  auto running = std::make_shared<std::atomic<int>>(0);
  auto most = std::make_shared<std::atomic<int>>(0);
  on.subscribe("orders", [calls, running, most, g = g](bytes_view, context& ctx) -> task<> {
      const int now = ++*running;
      for (int seen = *most; now > seen && !most->compare_exchange_weak(seen, now);) {
      }
      co_await resume_on(ctx.runtime());
      --*running;
      if (++*calls == 4 * each) g->entered.set_value();
    }).workers(4);
  const auto pub = on.publisher();
  auto started = app.start();
  ASSERT_TRUE(started);
  {
    std::vector<std::jthread> publishers;
    for (int p = 0; p < 4; ++p)
      publishers.emplace_back([&] { EXPECT_TRUE(sync_wait(publishes(pub, each)())); });
  }
  ASSERT_TRUE(in_time(g->entered.get_future()));
  EXPECT_TRUE(started->shutdown());
  EXPECT_EQ(*calls, 4 * each);
  EXPECT_LE(*most, 4); // core 3.36
}

INSTANTIATE_TEST_SUITE_P(threads, shutdown_on_threads, ::testing::Values(0U, 1U, 3U),
                         [](const auto& param) { return std::to_string(param.param); });

// The same on one blocked thread of the pool alone.
TEST(pool_runtime, one_more_thread_takes_what_all_blocked_ones_hold_up) {
  struct step : job {
    step() noexcept : job([](job& j) noexcept { static_cast<step&>(j).ran.set_value(); }) {}
    std::promise<void> ran;
  };
  struct block : job {
    block() noexcept
        : job([](job& j) noexcept {
            auto& self = static_cast<block&>(j);
            self.entered.set_value();
            self.open.get_future().wait();
          }) {}
    std::promise<void> entered, open;
  };
  block stuck;
  step waiting;
  pool_runtime rt(1);
  rt.post(stuck);
  ASSERT_TRUE(in_time(stuck.entered.get_future()));
  rt.post(waiting);
  rt.keep_moving(0s);
  EXPECT_TRUE(in_time(waiting.ran.get_future()));
  stuck.open.set_value();
  EXPECT_TRUE(rt.stop(30s));
}
