#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>
#include <millrace/task.hpp>

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace millrace;

task<int> answer() { co_return 42; }
task<int> sum(int n) {
  int total = 0;
  for (int i = 0; i < n; ++i)
    total += co_await answer();
  co_return total;
}
task<> throws() {
  throw std::runtime_error("from the task");
  co_return;
}
task<std::string> catches() {
  std::string caught;
  try {
    co_await throws();
  } catch (const std::runtime_error& e) {
    caught = e.what();
  }
  co_return caught;
}
task<std::unique_ptr<int>> move_only() { co_return std::make_unique<int>(7); }

/// Tells when it is destroyed.
struct witness {
  explicit witness(bool& gone) : gone_(&gone) {}
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;
  ~witness() { *gone_ = true; }
  bool* gone_;
};
task<> waits(bool& gone) {
  const witness w(gone);
  co_await std::suspend_always{};
}

struct ignore : completion {
  ignore() noexcept : completion([](completion& c) noexcept { static_cast<ignore&>(c).told = true; }) {}
  bool told = false;
};

} // namespace

TEST(task, returns_the_value_of_nested_tasks) { EXPECT_EQ(sync_wait(sum(10)), 420); }

TEST(task, carries_an_exception_to_whoever_awaits) {
  EXPECT_EQ(sync_wait(catches()), "from the task");
  EXPECT_THROW(sync_wait(throws()), std::runtime_error);
}

TEST(task, moves_its_value_out) {
  const auto value = sync_wait(move_only());
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 7);
}

TEST(task, does_not_start_before_it_is_awaited) {
  bool gone = false;
  {
    const auto lazy = waits(gone);
    EXPECT_TRUE(static_cast<bool>(lazy));
  }
  EXPECT_FALSE(gone); // its body never began
}

TEST(task, destroying_a_suspended_task_destroys_its_locals) {
  bool gone = false;
  ignore done;
  auto running = waits(gone);
  running.start(done);
  EXPECT_FALSE(done.told);
  auto moved = std::move(running);
  EXPECT_FALSE(static_cast<bool>(running)); // NOLINT: a moved-from task is empty, that is the point
  moved.reset();
  EXPECT_TRUE(gone);
  EXPECT_FALSE(done.told);
}

TEST(task, assigning_over_a_task_destroys_it) {
  bool first = false;
  bool second = false;
  ignore done;
  auto running = waits(first);
  running.start(done);
  running = waits(second);
  EXPECT_TRUE(first);
}

TEST(task, tells_its_completion_once_even_if_it_never_suspends) {
  ignore done;
  auto quick = answer();
  quick.start(done);
  EXPECT_TRUE(done.told);
  EXPECT_EQ(quick.take(), 42);
}

TEST(task, frames_may_end_on_another_thread) {
  std::vector<task<int>> made;
  made.reserve(500);
  for (int i = 0; i < 500; ++i)
    made.push_back(sum(2));
  std::thread other([tasks = std::move(made)]() mutable {
    for (auto& t : tasks)
      EXPECT_EQ(sync_wait(std::move(t)), 84);
    tasks.clear();
  });
  other.join();
}

TEST(task, a_blocked_waiter_gets_the_value_from_another_thread) {
  pool_runtime rt(2);
  for (int i = 0; i < 200; ++i) {
    auto hop = [](runtime& on) -> task<std::thread::id> {
      co_await resume_on(on);
      co_return std::this_thread::get_id();
    };
    EXPECT_NE(sync_wait(hop(rt)), std::this_thread::get_id());
  }
}
