// One batch is one fetch (core 2.7, nats 3.2).
#include "session/fetch_machine.hpp"

#include <gtest/gtest.h>

namespace millrace::nats::detail {
namespace {

using namespace std::chrono_literals;

const time_point start{1h};

/// A machine and the totals that it is told.
struct fetching {
  fetch_machine m;
  pull_totals t;

  pull_action begin() { return m.restart(t, start); }
  pull_action message() { return ++t.received, m.on_message(true, t); }
  pull_action unseen() { return ++t.received, ++t.released, m.on_message(false, t); }
  pull_action status(unsigned code) { return m.on_status(code, "", -1, m.epoch(), t); }
  pull_action release(std::uint64_t n) { return t.released += n, m.on_released(t, start); }
};

fetching of(std::uint32_t size, std::uint32_t window, bool waits = true) {
  return {fetch_machine({.size = size, .window = window, .waits = waits}), {}};
}

void expect_pull(const pull_action& a, std::uint32_t messages, pull_kind how) {
  EXPECT_EQ(a.pull, messages);
  EXPECT_EQ(a.how, how);
}

TEST(fetch_machine, a_full_sweep_is_a_batch_and_the_next_waits_for_room) {
  fetching f = of(2, 2);
  expect_pull(f.begin(), 2, pull_kind::sweep);
  EXPECT_FALSE(f.message().batch_ends);
  const pull_action full = f.message();
  EXPECT_TRUE(full.batch_ends);
  EXPECT_EQ(full.pull, 0U);
  EXPECT_EQ(f.m.release_step(f.t), 2U);
  EXPECT_EQ(f.release(1).pull, 0U);
  expect_pull(f.release(1), 2, pull_kind::sweep);
}

TEST(fetch_machine, a_window_of_two_batches_fetches_one_ahead) {
  fetching f = of(2, 4);
  (void)f.begin();
  (void)f.message();
  const pull_action full = f.message();
  EXPECT_TRUE(full.batch_ends);
  expect_pull(full, 2, pull_kind::sweep);
}

TEST(fetch_machine, a_partial_sweep_waits_for_the_rest_and_closes_at_its_end) {
  fetching f = of(4, 4);
  (void)f.begin();
  (void)f.message();
  const pull_action rest = f.status(408);
  EXPECT_FALSE(rest.batch_ends);
  expect_pull(rest, 3, pull_kind::rest);
  EXPECT_EQ(f.message().pull, 0U);
  EXPECT_TRUE(f.status(408).batch_ends);
}

TEST(fetch_machine, without_a_wait_a_batch_is_what_is_there) {
  fetching f = of(4, 4, false);
  (void)f.begin();
  (void)f.message();
  EXPECT_TRUE(f.status(408).batch_ends);
}

TEST(fetch_machine, an_empty_fetch_waits_for_a_first_message_and_is_no_batch) {
  fetching f = of(4, 4);
  (void)f.begin();
  const pull_action empty = f.status(404);
  EXPECT_FALSE(empty.batch_ends);
  expect_pull(empty, 1, pull_kind::open);
  expect_pull(f.status(408), 1, pull_kind::open); // `pull_expires` is over
  expect_pull(f.message(), 3, pull_kind::rest);
}

TEST(fetch_machine, late_statuses_of_an_earlier_request_are_ignored) {
  fetching f = of(2, 2);
  (void)f.begin();
  const std::uint32_t swept = f.m.epoch();
  (void)f.status(404);
  EXPECT_EQ(f.m.on_status(408, "", -1, swept, f.t).pull, 0U);
}

TEST(fetch_machine, a_message_that_no_handler_sees_is_no_element) {
  fetching f = of(2, 2);
  (void)f.begin();
  (void)f.unseen();
  const pull_action rest = f.message(); // the request brought its two
  EXPECT_FALSE(rest.batch_ends);
  expect_pull(rest, 1, pull_kind::rest);
}

TEST(fetch_machine, a_server_that_forgets_the_end_of_a_request_holds_nothing_up) {
  fetching f = of(4, 8);
  (void)f.begin();
  expect_pull(f.m.on_overdue(f.m.epoch(), f.t), 1, pull_kind::open);
  EXPECT_EQ(f.m.on_overdue(f.m.epoch(), f.t).pull, 0U); // this one lasts
  (void)f.message();
  (void)f.message();
  EXPECT_FALSE(f.m.on_overdue(f.m.epoch() - 1, f.t).batch_ends);
  EXPECT_TRUE(f.m.on_overdue(f.m.epoch(), f.t).batch_ends);
}

TEST(fetch_machine, a_new_start_hands_the_part_over) { // an error mid-batch
  fetching f = of(4, 8);
  (void)f.begin();
  (void)f.message();
  const pull_action again = f.begin();
  EXPECT_TRUE(again.batch_ends);
  expect_pull(again, 4, pull_kind::sweep);
}

TEST(fetch_machine, a_size_above_a_limit_is_halved_and_not_asked_at_once) {
  fetching f = of(16, 16);
  (void)f.begin();
  EXPECT_EQ(f.status(409).pull, 0U);
  expect_pull(f.m.on_tick(f.t), 8, pull_kind::sweep);
}

TEST(fetch_machine, never_exceeds_its_window_and_never_sticks) {
  for (std::uint32_t workers : {1U, 3U}) {
    fetching f = of(5, 5 * workers);
    std::uint64_t open = f.begin().pull;
    std::uint32_t gathered = 0;
    unsigned random = 1;
    for (int i = 0; i < 5000; ++i) {
      random = random * 1103515245U + 12345U;
      pull_action a;
      const unsigned dice = (random >> 16) % 4;
      if (dice < 2 && open > 0) {
        --open;
        ++gathered;
        a = f.message();
      } else if (dice == 2 && open > 0) {
        open = 0;
        a = f.status(408);
      } else if (f.t.released + gathered < f.t.received) {
        a = f.release(1);
      }
      ASSERT_LE(gathered, 5U);
      if (a.batch_ends) gathered = 0;
      if (a.pull > 0) open = a.pull;
      ASSERT_LE(f.t.received - f.t.released + open, 5U * workers);
      ASSERT_TRUE(open > 0 || f.t.received > f.t.released) << "stuck";
    }
  }
}

} // namespace
} // namespace millrace::nats::detail
