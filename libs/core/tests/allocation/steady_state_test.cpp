// Design, "Cost": in steady state a coroutine, a publish and a consumed message allocate nothing. Counted, not guessed.
#include "allocation/counted_new.hpp"

#include <millrace/event.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

using namespace millrace;
using millrace::testing::virtual_runtime;

namespace {

struct order {
  std::uint64_t id = 0;
  std::string item;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

task<int> one() { co_return 1; }
task<int> sum(int n) {
  int total = 0;
  for (int i = 0; i < n; ++i)
    total += co_await one();
  co_return total;
}

struct told : completion {
  told() noexcept : completion([](completion&) noexcept {}) {}
};

/// Publishes and lets the handlers run, `rounds` times; everything inside one coroutine, so that only messages are
/// counted.
task<std::size_t> allocated_by(runtime& rt, const publisher<memory::publish>& to, int rounds) {
  const order o{7, "an item whose name is too long for the small string"};
  const std::size_t before = allocations;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 50; ++i) {
      auto sent = co_await to.publish("orders", o);
      if (!sent) throw std::runtime_error(sent.error().message());
    }
    for (int i = 0; i < 200; ++i)
      co_await resume_on(rt);
  }
  co_return allocations - before;
}

task<outcome> handle(const order& o, context& ctx) {
  co_await resume_on(ctx.runtime());
  co_return o.id == 7 ? ack() : drop();
}

} // namespace

TEST(steady_state, coroutine_frames_are_recycled) {
  const auto run = [] {
    auto t = sum(3);
    told end;
    t.start(end);
    return t.take();
  };
  run();
  const std::size_t before = allocations;
  int total = 0;
  for (int i = 0; i < 1000; ++i)
    total += run();
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(total, 3000);
}

TEST(steady_state, a_published_and_consumed_message_allocates_nothing) {
  virtual_runtime rt;
  service app{service_info{"allocations"}};
  auto on = app.with_broker(memory::broker{});
  int called = 0;
  on.subscribe("orders", [&called](const order&) { ++called; });
  on.subscribe("orders", handle).named("suspending");
  const auto to = on.publisher();
  service_run run(app.core(), rt);
  ASSERT_TRUE(rt.drive(run.start(connect_mode::in_process)).has_value());

  EXPECT_GT(rt.drive(allocated_by(rt, to, 3)), 0U); // the first rounds fill the pools
  EXPECT_EQ(rt.drive(allocated_by(rt, to, 20)), 0U);
  EXPECT_EQ(called, 23 * 50);
  ASSERT_TRUE(rt.drive(run.shutdown()).has_value());
}
