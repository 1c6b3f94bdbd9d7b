// Design, "Cost": in steady state a coroutine, a publish and a consumed message allocate nothing. Counted, not guessed.
#include <millrace/event.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

namespace {
std::atomic<std::size_t> allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

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

task<> publish_orders(const publisher<memory::publish>& to, const order& o, int n) {
  for (int i = 0; i < n; ++i) {
    auto sent = co_await to.publish("orders", o);
    if (!sent) throw std::runtime_error(sent.error().message());
  }
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

  const order o{7, "an item whose name is too long for the small string"};
  const auto round = [&] {
    rt.drive(publish_orders(to, o, 50));
    ASSERT_TRUE(rt.run().has_value());
  };
  for (int i = 0; i < 3; ++i)
    round();
  const std::size_t before = allocations;
  for (int i = 0; i < 20; ++i)
    round();
  EXPECT_EQ(allocations, before) << "blocks in 1000 messages to two subscriptions: " << allocations - before;
  EXPECT_EQ(called, 23 * 50);
  ASSERT_TRUE(rt.drive(run.shutdown()).has_value());
}
