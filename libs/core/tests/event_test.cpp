#include "support.hpp"

#include <millrace/event.hpp>
#include <millrace/invocation.hpp>
#include <millrace/pool_runtime.hpp>

#include <gtest/gtest.h>
#include <thread>

using namespace core_test;

namespace {

task<bool> wait_until(event& e, time_point due) { co_return co_await e.wait_until(due); }
task<> wait_for(event& e, int& woken) {
  co_await e.wait();
  ++woken;
}
task<> sleep_then_set(runtime& rt, duration d, event& e) {
  co_await sleep_for(rt, d);
  e.set();
}
task<> fails() {
  throw std::runtime_error("it broke");
  co_return;
}
task<> throws_a_number() {
  throw 5;
  co_return;
}
task<bool> sleep_is_given_up(runtime& rt) {
  bool cancelled = false;
  try {
    co_await sleep_for(rt, 1h);
  } catch (const operation_cancelled&) {
    cancelled = true;
  }
  co_return cancelled;
}

} // namespace

TEST(rendezvous, whoever_comes_second_continues) {
  rendezvous meeting;
  EXPECT_FALSE(meeting.leave());
  EXPECT_TRUE(meeting.end());
  meeting.reset();
  EXPECT_FALSE(meeting.end());
  EXPECT_TRUE(meeting.leave());
}

TEST(rendezvous, exactly_one_of_two_threads_continues) {
  for (int round = 0; round < 2000; ++round) {
    rendezvous meeting;
    std::atomic<int> continued = 0;
    std::thread other([&] { continued += meeting.end() ? 1 : 0; });
    continued += meeting.leave() ? 1 : 0;
    other.join();
    ASSERT_EQ(continued, 1);
  }
}

TEST(event, a_set_event_does_not_suspend) {
  virtual_runtime rt;
  event e(rt);
  e.set();
  EXPECT_TRUE(sync_wait(wait_until(e, rt.now())));
  e.clear();
  EXPECT_FALSE(e.is_set());
}

TEST(event, times_out_at_its_moment_and_not_before) {
  virtual_runtime rt;
  event e(rt);
  const time_point due = rt.now() + 5s;
  EXPECT_FALSE(rt.drive(wait_until(e, due)));
  EXPECT_EQ(rt.now(), due);
}

TEST(event, set_before_the_time_wins_and_disarms_it) {
  virtual_runtime rt;
  event e(rt);
  task_group group(rt);
  group.spawn(sleep_then_set(rt, 2s, e), "a setter");
  const time_point began = rt.now();
  EXPECT_TRUE(rt.drive(wait_until(e, began + 5s)));
  EXPECT_EQ(rt.now(), began + 2s);
  ASSERT_TRUE(rt.advance(10s).has_value()); // the bound must not fire into the ended wait
}

TEST(event, resumes_on_the_runtime_and_never_inside_set) {
  virtual_runtime rt;
  event e(rt);
  int woken = 0;
  task_group group(rt);
  group.spawn(wait_for(e, woken), "a waiter");
  e.set();
  EXPECT_EQ(woken, 0);
  ASSERT_TRUE(rt.run().has_value());
  EXPECT_EQ(woken, 1);
}

// A time-out and a set that meet: the waiter resumes once, with one of the two answers, and the timer is dead
// afterwards.
TEST(event, set_and_timeout_may_meet) {
  pool_runtime rt(2);
  int in_time = 0;
  for (int i = 0; i < 3000; ++i) {
    event e(rt);
    std::jthread setter([&] {
      for (int spin = 0; spin < (i % 50) * 20; ++spin)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      e.set();
    });
    in_time += sync_wait(wait_until(e, rt.now() + std::chrono::microseconds(i % 60))) ? 1 : 0;
    setter.join();
    ASSERT_TRUE(e.is_set());
  }
  EXPECT_GT(in_time, 0);
}

TEST(task_group, drain_waits_for_what_runs) {
  virtual_runtime rt;
  event release(rt);
  int woken = 0;
  task_group group(rt);
  group.spawn(wait_for(release, woken), "a waiter");
  EXPECT_EQ(group.size(), 1U);
  EXPECT_FALSE(rt.drive(group.drain(rt.now() + 3s)));
  release.set();
  EXPECT_TRUE(rt.drive(group.drain(rt.now() + 3s)));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(group.size(), 0U);
}

TEST(task_group, logs_what_escapes_a_task) {
  const log_capture log;
  virtual_runtime rt;
  task_group group(rt);
  group.spawn(fails(), "a continuation");
  group.spawn(throws_a_number(), "a continuation");
  EXPECT_EQ(log.count(log_level::error, "a continuation", "it broke"), 1U);
  EXPECT_EQ(log.count(log_level::error, "a continuation", "unknown exception"), 1U);
  EXPECT_TRUE(rt.drive(group.drain(rt.now())));
}

// The end of the last task and the start of the next one meet: drain must neither miss one nor spin.
TEST(task_group, tasks_come_and_go_on_many_threads) {
  pool_runtime rt(3);
  std::atomic<int> ended = 0;
  task_group group(rt);
  auto hop = [](runtime& on, std::atomic<int>& count) -> task<> {
    co_await resume_on(on);
    ++count;
  };
  for (int i = 0; i < 5000; ++i)
    group.spawn(hop(rt, ended), "a hop");
  EXPECT_TRUE(sync_wait(group.drain(rt.now() + 30s)));
  EXPECT_EQ(ended, 5000);
}

TEST(sleep, ends_on_the_virtual_clock) {
  virtual_runtime rt;
  const time_point began = rt.now();
  rt.drive([](runtime& on) -> task<> { co_await sleep_for(on, 90min); }(rt));
  EXPECT_EQ(rt.now(), began + 90min);
}

TEST(sleep, is_given_up_when_the_service_stops) {
  virtual_runtime rt;
  std::optional<bool> cancelled;
  task_group group(rt);
  group.spawn(
      [](runtime& on, std::optional<bool>& out) -> task<> { out = co_await sleep_is_given_up(on); }(rt, cancelled),
      "a sleeper");
  rt.cancel_waits();
  ASSERT_TRUE(rt.run().has_value());
  EXPECT_EQ(cancelled, true);
  EXPECT_TRUE(rt.drive(sleep_is_given_up(rt))); // so is one that begins afterwards
}
