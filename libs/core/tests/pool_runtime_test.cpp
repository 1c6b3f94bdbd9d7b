#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

using namespace millrace;
using namespace std::chrono_literals;

namespace {

struct counting_job : job {
  counting_job(std::latch& done, std::atomic<int>& ran) noexcept
      : job([](job& j) noexcept {
          auto& self = static_cast<counting_job&>(j);
          ++*self.ran;
          self.done->count_down();
        }),
        done(&done), ran(&ran) {}
  std::latch* done;
  std::atomic<int>* ran;
};

struct promise_timer : timer {
  explicit promise_timer(kind k = kind::bound) noexcept
      : timer([](timer& t) noexcept { static_cast<promise_timer&>(t).fired.set_value(); }, k) {}
  std::promise<void> fired;
};

bool in_time(std::promise<void>& p) { return p.get_future().wait_for(20s) == std::future_status::ready; }

/// A job that holds its thread until it is told.
struct blocking_job : job {
  blocking_job() noexcept
      : job([](job& j) noexcept {
          auto& self = static_cast<blocking_job&>(j);
          self.entered.set_value();
          self.release.get_future().wait();
          self.left.set_value();
        }) {}
  std::promise<void> entered, release, left;
};

} // namespace

TEST(pool_runtime, runs_every_job_posted_from_many_threads_once) {
  constexpr int posters = 4;
  constexpr int each = 2000;
  std::latch done(posters * each);
  std::atomic<int> ran = 0;
  std::deque<counting_job> jobs;
  for (int i = 0; i < posters * each; ++i)
    jobs.emplace_back(done, ran);
  pool_runtime rt(3);
  std::vector<std::jthread> threads;
  for (int p = 0; p < posters; ++p) {
    threads.emplace_back([&, p] {
      for (int i = 0; i < each; ++i)
        rt.post(jobs[static_cast<std::size_t>(p * each + i)]);
    });
  }
  done.wait();
  EXPECT_EQ(ran, posters * each);
}

// Under TSan: `post` must have left the runtime when what it posted runs.
TEST(pool_runtime, what_was_posted_may_destroy_the_runtime) {
  for (int i = 0; i < 200; ++i) {
    std::latch done(1);
    std::atomic<int> ran = 0;
    counting_job last(done, ran);
    auto rt = std::make_unique<pool_runtime>(1);
    std::thread poster([&rt = *rt, &last] { rt.post(last); });
    done.wait();
    rt.reset();
    poster.join();
  }
}

// A bound that was disarmed leaves the timer thread asleep until its time; an earlier one wakes it all the same.
TEST(pool_runtime, timers_fire_after_others_were_disarmed) {
  pool_runtime rt(1);
  for (int i = 0; i < 100; ++i) {
    promise_timer bound, soon;
    rt.arm(bound, rt.now() + 1h);
    EXPECT_TRUE(rt.disarm(bound));
    rt.arm(soon, rt.now());
    EXPECT_TRUE(in_time(soon.fired));
    rt.disarm(soon);
  }
}

TEST(pool_runtime, one_thread_keeps_the_order) {
  struct numbered : job {
    numbered(int n, std::vector<int>& to) noexcept
        : job([](job& j) noexcept {
            auto& self = static_cast<numbered&>(j);
            self.to->push_back(self.n);
          }),
          n(n), to(&to) {}
    int n;
    std::vector<int>* to;
  };
  std::vector<int> order;
  std::deque<numbered> jobs;
  {
    pool_runtime rt(1);
    for (int i = 0; i < 100; ++i)
      rt.post(jobs.emplace_back(i, order));
    EXPECT_TRUE(rt.stop(20s)); // what is queued runs first
  }
  EXPECT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST(pool_runtime, timers_fire_at_their_time_or_later) {
  pool_runtime rt(1);
  promise_timer late, soon;
  const time_point began = rt.now();
  rt.arm(late, began + 30ms);
  rt.arm(soon, began + 5ms); // earlier than what the timer thread waits for
  EXPECT_TRUE(in_time(soon.fired));
  EXPECT_GE(rt.now(), began + 5ms);
  EXPECT_TRUE(in_time(late.fired));
  EXPECT_GE(rt.now(), began + 30ms);
}

TEST(pool_runtime, a_disarmed_timer_does_not_fire) {
  pool_runtime rt(1);
  promise_timer t;
  rt.arm(t, rt.now() + 1h);
  EXPECT_TRUE(rt.disarm(t));
  EXPECT_FALSE(rt.disarm(t));
}

// Whatever disarm answers, the timer may be destroyed afterwards: a callback that runs is waited for.
TEST(pool_runtime, disarm_races_with_the_firing) {
  struct flag_timer : timer {
    flag_timer() noexcept
        : timer([](timer& t) noexcept {
            auto& self = static_cast<flag_timer&>(t);
            self.inside = true;
            self.fired = true;
            self.inside = false;
          }) {}
    std::atomic<bool> inside = false;
    std::atomic<bool> fired = false;
  };
  pool_runtime rt(1);
  int fired = 0;
  for (int i = 0; i < 5000; ++i) {
    auto t = std::make_unique<flag_timer>();
    rt.arm(*t, rt.now() + std::chrono::microseconds(i % 40));
    for (int spin = 0; spin < (i % 30) * 30; ++spin)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    const bool disarmed = rt.disarm(*t);
    ASSERT_FALSE(t->inside);
    ASSERT_NE(disarmed, t->fired.load());
    fired += disarmed ? 0 : 1;
  }
  SUCCEED() << fired << " of 5000 fired";
}

TEST(pool_runtime, cancels_waits_of_user_code_and_leaves_bounds_alone) {
  pool_runtime rt(1);
  promise_timer bound;
  promise_timer wait(timer::kind::cancellable);
  promise_timer later(timer::kind::cancellable);
  rt.arm(bound, rt.now() + 1h);
  rt.arm(wait, rt.now() + 1h);
  rt.cancel_waits();
  EXPECT_TRUE(in_time(wait.fired));
  EXPECT_TRUE(wait.cancelled());
  rt.arm(later, rt.now() + 1h);
  EXPECT_TRUE(in_time(later.fired));
  EXPECT_TRUE(later.cancelled());
  EXPECT_TRUE(rt.disarm(bound));
}

TEST(pool_runtime, stop_with_a_blocked_thread_is_bounded) {
  blocking_job stuck;
  {
    pool_runtime rt(2);
    rt.post(stuck);
    EXPECT_TRUE(in_time(stuck.entered));
    const auto began = std::chrono::steady_clock::now();
    EXPECT_FALSE(rt.stop(20ms));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  } // the thread is left behind and keeps what it needs
  stuck.release.set_value();
  EXPECT_TRUE(in_time(stuck.left));
}

TEST(pool_runtime, zero_threads_means_inline_dispatch_and_one_thread_for_what_was_suspended) {
  pool_runtime rt(0);
  EXPECT_TRUE(rt.dispatches_inline());
  EXPECT_FALSE(pool_runtime(1).dispatches_inline());
  auto hop = [](runtime& on) -> task<std::thread::id> {
    co_await resume_on(on);
    co_return std::this_thread::get_id();
  };
  EXPECT_EQ(sync_wait(hop(rt)), sync_wait(hop(rt)));
}
