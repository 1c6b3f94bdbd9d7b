#include <millrace/event.hpp>
#include <millrace/testing/errors.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include "orders.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace testing_test {
namespace {

using namespace std::chrono_literals;
using millrace::errc;
using millrace::event;
using millrace::job;
using millrace::resume_on;
using millrace::sleep_for;
using millrace::task;
using millrace::testing::unfinished_reaction;
using millrace::testing::virtual_runtime;

struct noting : job {
  noting(std::vector<int>& to, int n)
      : job([](job& j) noexcept {
          auto& self = static_cast<noting&>(j);
          self.notes->push_back(self.number);
        }),
        notes(&to), number(n) {}
  std::vector<int>* notes;
  int number;
};

/// Posts itself for ever.
struct restless : job {
  explicit restless(virtual_runtime& rt)
      : job([](job& j) noexcept {
          auto& self = static_cast<restless&>(j);
          self.on->post(self);
        }),
        on(&rt) {}
  virtual_runtime* on;
};

task<void> note_after(virtual_runtime& rt, millrace::duration d, std::vector<int>& notes, int n) {
  co_await sleep_for(rt, d);
  notes.push_back(n);
}

task<int> wait_and_answer(virtual_runtime& rt, millrace::duration d) {
  co_await sleep_for(rt, d);
  co_return 42;
}

task<void> wait_for(event& e) { co_await e.wait(); }

task<void> fail_later(virtual_runtime& rt) {
  co_await resume_on(rt);
  throw std::runtime_error("as written");
}

TEST(virtual_runtime, nothing_runs_before_run_and_jobs_run_in_order) {
  virtual_runtime rt;
  std::vector<int> notes;
  noting first(notes, 1);
  noting second(notes, 2);
  rt.post(first);
  rt.post(second);
  EXPECT_TRUE(notes.empty());
  ASSERT_TRUE(rt.run());
  EXPECT_EQ(notes, (std::vector{1, 2}));
}

TEST(virtual_runtime, the_clock_moves_only_by_advance_and_stops_at_each_timer) {
  virtual_runtime rt;
  std::vector<int> notes;
  millrace::task_group group(rt);
  const auto start = rt.now();
  group.spawn(note_after(rt, 3s, notes, 3), "third");
  group.spawn(note_after(rt, 1s, notes, 1), "first");
  group.spawn(note_after(rt, 1s, notes, 2), "second: equal times in the order of arming");
  ASSERT_TRUE(rt.run());
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(rt.now(), start);
  ASSERT_TRUE(rt.advance(999ms));
  EXPECT_TRUE(notes.empty());
  ASSERT_TRUE(rt.advance(1ms));
  EXPECT_EQ(notes, (std::vector{1, 2}));
  ASSERT_TRUE(rt.advance(1h));
  EXPECT_EQ(notes, (std::vector{1, 2, 3}));
  EXPECT_EQ(rt.now(), start + 1h + 1s);
}

TEST(virtual_runtime, drive_moves_the_clock_only_as_far_as_the_task_needs) {
  virtual_runtime rt;
  const auto start = rt.now();
  EXPECT_EQ(rt.drive(wait_and_answer(rt, 5s)), 42);
  EXPECT_EQ(rt.now(), start + 5s);
}

TEST(virtual_runtime, drive_throws_what_the_task_throws) {
  virtual_runtime rt;
  EXPECT_EQ(thrown<std::runtime_error>([&] { rt.drive(fail_later(rt)); }), "as written");
}

TEST(virtual_runtime, drive_says_so_when_a_task_waits_for_nothing_and_keeps_its_frame) {
  virtual_runtime rt;
  event never(rt);
  EXPECT_THROW(rt.drive(wait_for(never)), unfinished_reaction);
  never.set(); // resumes the frame, which is still there
  ASSERT_TRUE(rt.run());
}

TEST(virtual_runtime, a_loop_that_feeds_itself_ends_in_an_error) {
  virtual_runtime rt;
  restless loop(rt);
  rt.post(loop);
  const auto done = rt.run(1000);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), errc::timeout);
  EXPECT_NE(done.error().message().find("more than 1000 steps"), std::string::npos) << done.error().message();
  EXPECT_FALSE(rt.advance(1s));
  event never(rt);
  EXPECT_THROW(rt.drive(wait_for(never)), unfinished_reaction);
}

TEST(virtual_runtime, a_guard_is_asked_after_every_job) {
  virtual_runtime rt;
  restless loop(rt);
  rt.post(loop);
  int jobs = 0;
  rt.guard([&jobs]() -> millrace::result<void> {
    if (++jobs < 3) return {};
    return millrace::fail(errc::timeout, "guarded");
  });
  EXPECT_FALSE(rt.run());
  EXPECT_EQ(jobs, 3);
}

TEST(virtual_runtime, run_waits_for_bracketed_outside_work) {
  virtual_runtime rt;
  std::vector<int> notes;
  noting arrived(notes, 7);
  rt.external_begin();
  std::jthread outside([&] {
    rt.post(arrived);
    rt.external_end();
  });
  ASSERT_TRUE(rt.run());
  EXPECT_EQ(notes, (std::vector{7}));
}

TEST(virtual_runtime, outside_work_that_outlasts_its_bound_is_an_error) {
  virtual_runtime rt(1ms);
  rt.external_begin();
  const auto done = rt.run();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message().find("outside work did not end within 1 ms"), std::string::npos);
  rt.external_end();
  EXPECT_TRUE(rt.run());
}

TEST(virtual_runtime, cancelled_waits_end_at_once_now_and_later) {
  virtual_runtime rt;
  std::vector<int> notes;
  millrace::task_group group(rt);
  group.spawn(note_after(rt, 1h, notes, 1), "cancelled");
  rt.cancel_waits();
  ASSERT_TRUE(rt.run());
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(group.size(), 0U);
  group.spawn(note_after(rt, 1h, notes, 1), "cancelled as well");
  ASSERT_TRUE(rt.run());
  EXPECT_EQ(group.size(), 0U);
}

TEST(virtual_runtime, run_until_stops_at_the_condition) {
  virtual_runtime rt;
  std::vector<int> notes;
  noting first(notes, 1);
  noting second(notes, 2);
  rt.post(first);
  rt.post(second);
  EXPECT_TRUE(rt.run_until([&] { return notes.size() == 1; }));
  EXPECT_FALSE(rt.run_until([&] { return notes.size() == 3; }));
  EXPECT_EQ(notes, (std::vector{1, 2}));
}

} // namespace
} // namespace testing_test
