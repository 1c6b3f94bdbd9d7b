#include "session/alarm.hpp"

#include <millrace/pool_runtime.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

namespace millrace::pubsub::detail {
namespace {

// P7: the flush at the end cancels what a batch waits for, at whatever moment. A sanitizer sees what is freed too
// early.
TEST(alarm, P7_cancelled_while_it_rings_it_rings_no_more) {
  pool_runtime rt{1};
  for (int i = 0; i < 3000; ++i) {
    std::atomic<bool> over = false;
    std::atomic<bool> late = false;
    alarm bell(rt, [&] { late = late || over; });
    const time_point due = rt.now() + std::chrono::microseconds(i % 100);
    bell.set(due);
    while (rt.now() < due) {
    }
    bell.cancel();
    over = true;
    ASSERT_FALSE(late) << i;
  }
}

} // namespace
} // namespace millrace::pubsub::detail
