#include <millrace/timer_queue.hpp>

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace millrace;
using namespace std::chrono_literals;

namespace {

struct plain_timer : timer {
  explicit plain_timer(int id = 0, kind k = kind::bound) noexcept : timer([](timer&) noexcept {}, k), id(id) {}
  int id;
};
constexpr time_point start{};

std::vector<int> drain(timer_queue& queue, time_point now) {
  std::vector<int> order;
  while (timer* t = queue.take_due(now))
    order.push_back(static_cast<plain_timer*>(t)->id);
  return order;
}

} // namespace

TEST(timer_queue, fires_earliest_first_and_equal_times_as_armed) {
  plain_timer a(1), b(2), c(3), d(4);
  timer_queue queue;
  queue.arm(a, start + 3s);
  queue.arm(b, start + 1s);
  queue.arm(c, start + 3s);
  queue.arm(d, start + 2s);
  EXPECT_EQ(queue.next_due(), start + 1s);
  EXPECT_EQ(drain(queue, start + 10s), (std::vector{2, 4, 1, 3}));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next_due(), std::nullopt);
}

TEST(timer_queue, takes_nothing_before_its_time) {
  plain_timer a;
  timer_queue queue;
  queue.arm(a, start + 1s);
  EXPECT_EQ(queue.take_due(start + 1s - 1ns), nullptr);
  EXPECT_EQ(queue.take_due(start + 1s), &a);
}

TEST(timer_queue, disarms_in_the_middle) {
  std::deque<plain_timer> timers;
  timer_queue queue;
  for (int i = 0; i < 20; ++i)
    queue.arm(timers.emplace_back(i), start + std::chrono::seconds(i));
  EXPECT_TRUE(queue.disarm(timers[7]));
  EXPECT_FALSE(queue.disarm(timers[7])); // not armed any more
  EXPECT_TRUE(queue.disarm(timers[0]));
  EXPECT_TRUE(queue.disarm(timers[19]));
  auto order = drain(queue, start + 1h);
  EXPECT_EQ(order.size(), 17U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_TRUE(std::ranges::find(order, 7) == order.end());
  EXPECT_FALSE(queue.disarm(timers[3])); // fired
}

TEST(timer_queue, a_fired_timer_can_be_armed_again) {
  plain_timer a;
  timer_queue queue;
  queue.arm(a, start);
  EXPECT_EQ(queue.take_due(start), &a);
  queue.arm(a, start + 1s);
  EXPECT_EQ(queue.take_due(start + 1s), &a);
}

TEST(timer_queue, cancels_only_waits_of_user_code) {
  plain_timer io(1);
  plain_timer wait(2, timer::kind::cancellable);
  timer_queue queue;
  queue.arm(io, start + 1s);
  queue.arm(wait, start + 2s);
  EXPECT_EQ(queue.take_cancelled(), &wait);
  EXPECT_TRUE(wait.cancelled());
  EXPECT_EQ(queue.take_cancelled(), nullptr);
  EXPECT_EQ(drain(queue, start + 1s), std::vector{1});
  EXPECT_FALSE(io.cancelled());
  queue.arm(wait, start); // a new wait is not born cancelled
  EXPECT_FALSE(wait.cancelled());
  EXPECT_TRUE(queue.disarm(wait));
}

TEST(timer_queue, keeps_its_order_under_random_use) {
  std::mt19937 random(7);
  std::deque<plain_timer> timers(200);
  std::vector<std::optional<time_point>> model(timers.size());
  timer_queue queue;
  time_point now = start;
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t i = random() % timers.size();
    if (model[i] && random() % 2 == 0) {
      ASSERT_TRUE(queue.disarm(timers[i]));
      model[i].reset();
    } else if (!model[i]) {
      timers[i].id = static_cast<int>(i);
      model[i] = now + std::chrono::milliseconds(random() % 1000);
      queue.arm(timers[i], *model[i]);
    } else {
      now += std::chrono::milliseconds(random() % 20);
      while (timer* t = queue.take_due(now)) {
        auto& due = model[static_cast<std::size_t>(static_cast<plain_timer*>(t)->id)];
        ASSERT_TRUE(due && *due <= now);
        due.reset();
      }
      for (const auto& due : model)
        ASSERT_TRUE(!due || *due > now);
    }
  }
}
