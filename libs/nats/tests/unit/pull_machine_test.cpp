#include "session/pull_machine.hpp"
#include "session/settled_log.hpp"
#include "session/unsettled.hpp"

#include <gtest/gtest.h>

#include <string>

namespace millrace::nats::detail {
namespace {

using namespace std::chrono_literals;
using advice = pull_advice;

const time_point start{1h};

pull_machine::config fixed(std::uint32_t window) {
  pull_machine::config c;
  c.window = window;
  c.ack_wait = 30s;
  return c;
}

TEST(pull_machine, asks_for_the_window_and_refills_by_halves) {
  pull_machine m(fixed(10));
  pull_totals t;
  EXPECT_EQ(m.restart(t, start).pull, 10U);
  t.received = 10;
  t.released = 4;
  EXPECT_EQ(m.on_released(t, start).pull, 0U);
  t.released = 5;
  EXPECT_EQ(m.on_released(t, start).pull, 5U);
  EXPECT_EQ(m.outstanding(t), 5U);
  t.released = 10;
  EXPECT_EQ(m.on_released(t, start).pull, 5U);
}

// What is held and what is asked for never exceed the window together.
TEST(pull_machine, never_exceeds_its_window) {
  for (std::uint32_t window : {1U, 2U, 3U, 7U, 64U}) {
    pull_machine m(fixed(window));
    pull_totals t;
    std::uint64_t asked = m.restart(t, start).pull;
    unsigned random = 1;
    for (int i = 0; i < 2000; ++i) {
      random = random * 1103515245U + 12345U;
      if ((random >> 16) % 2 == 0 && t.received < asked)
        ++t.received;
      else if (t.released < t.received) {
        ++t.released;
        asked += m.on_released(t, start).pull;
      }
      ASSERT_LE(asked - t.released, window);
    }
    while (t.received < asked)
      ++t.received;
    while (t.released < t.received)
      ++t.released;
    EXPECT_GT(m.on_released(t, start).pull, 0U) << "stuck with window " << window;
  }
}

TEST(pull_machine, expired_request_is_asked_again) {
  pull_machine m(fixed(10));
  pull_totals t;
  (void)m.restart(t, start);
  t.received = t.released = 3;
  EXPECT_EQ(m.on_status(408, "Request Timeout", 7, m.epoch(), t).pull, 10U);
}

TEST(pull_machine, expired_request_without_a_count_starts_level) {
  pull_machine m(fixed(10));
  pull_totals t;
  (void)m.restart(t, start);
  t.received = t.released = 3;
  EXPECT_EQ(m.on_status(408, "Request Timeout", -1, m.epoch(), t).pull, 10U);
}

TEST(pull_machine, statuses_of_an_old_epoch_are_ignored) {
  pull_machine m(fixed(10));
  pull_totals t;
  (void)m.restart(t, start);
  const std::uint32_t old = m.epoch();
  EXPECT_EQ(m.restart(t, start).pull, 10U);
  EXPECT_EQ(m.on_status(408, "", 10, old, t).pull, 0U);
  EXPECT_EQ(m.on_status(409, "Consumer Deleted", -1, old, t).then, advice::none);
}

// nats 12.15
TEST(pull_machine, deleted_consumer_is_looked_up_and_not_recreated) {
  pull_machine m(fixed(10));
  (void)m.restart({}, start);
  EXPECT_EQ(m.on_status(409, "Consumer Deleted", -1, m.epoch(), {}).then, advice::gone);
  EXPECT_EQ(m.on_status(503, "No Responders", -1, m.epoch(), {}).then, advice::verify);
}

// nats 12.14
TEST(pull_machine, missed_heartbeats_are_noticed_and_signs_of_life_reset_them) {
  pull_machine m(fixed(10));
  pull_totals t;
  (void)m.restart(t, start);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(m.on_tick(t).then, advice::none);
    EXPECT_EQ(m.on_tick(t).then, advice::none);
    (void)m.on_status(100, "Idle Heartbeat", -1, m.epoch(), t);
  }
  EXPECT_EQ(m.on_tick(t).then, advice::none);
  EXPECT_EQ(m.on_tick(t).then, advice::none);
  EXPECT_EQ(m.on_tick(t).then, advice::none);
  EXPECT_EQ(m.on_tick(t).then, advice::verify);
}

TEST(pull_machine, silence_is_no_fault_while_the_handlers_hold_everything) {
  pull_machine m(fixed(4));
  pull_totals t;
  (void)m.restart(t, start);
  t.received = 4;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(m.on_tick(t).then, advice::none);
}

// A refusal is not answered by a loop of refusals.
TEST(pull_machine, refused_request_waits_for_the_tick_and_shrinks) {
  pull_machine m(fixed(16));
  (void)m.restart({}, start);
  EXPECT_EQ(m.on_status(409, "Exceeded MaxRequestBatch of 8", 16, m.epoch(), {}).pull, 0U);
  EXPECT_EQ(m.on_tick({}).pull, 8U);
}

// nats 12.19
TEST(pull_machine, window_adapts_to_the_handlers) {
  pull_machine::config c;
  c.floor = 2;
  c.ceiling = 64;
  c.ack_wait = 8s;
  pull_machine m(c);
  pull_totals t;
  time_point now = start;
  std::uint64_t asked = m.restart(t, now).pull;
  EXPECT_EQ(m.window(), 2U);
  const auto settle_all = [&](duration each) {
    t.received = asked;
    while (t.released < t.received) {
      ++t.released;
      now += each;
      asked += m.on_released(t, now).pull;
    }
  };
  for (int i = 0; i < 40; ++i)
    settle_all(1ms);
  EXPECT_EQ(m.window(), 64U);
  for (int i = 0; i < 40; ++i)
    settle_all(5s);
  EXPECT_EQ(m.window(), 2U);
}

TEST(pull_machine, more_messages_than_asked_for_do_no_harm) {
  pull_machine m(fixed(4));
  pull_totals t;
  (void)m.restart(t, start);
  t.received = t.released = 9;
  EXPECT_EQ(m.on_released(t, start).pull, 4U);
  EXPECT_EQ(m.outstanding(t), 4U);
}

// nats 12.16
TEST(unsettled_sequences, a_replacement_starts_at_the_first_that_is_not_settled) {
  unsettled_sequences u;
  EXPECT_FALSE(u.started());
  for (std::uint64_t i = 10; i <= 15; ++i)
    u.delivered(i);
  for (std::uint64_t i : {10U, 11U, 13U, 15U})
    u.settled(i);
  EXPECT_EQ(u.resume_at(), 12U);
  u.settled(12);
  u.settled(14);
  EXPECT_EQ(u.resume_at(), 16U);
  u.delivered(12); // a retry that came again
  EXPECT_EQ(u.resume_at(), 12U);
}

TEST(settled_log, knows_a_message_by_sequence_and_time) {
  settled_log log;
  const auto ack = [](int delivered, std::size_t sequence, int time) {
    return "$JS.ACK.S.C." + std::to_string(delivered) + "." + std::to_string(sequence) + ".9.170000000000000" +
           std::to_string(time) + ".0";
  };
  log.record(ack(1, 5, 1000));
  EXPECT_TRUE(log.contains(ack(2, 5, 1000)));
  EXPECT_FALSE(log.contains(ack(1, 5, 1001))); // the sequence was given out again
  EXPECT_FALSE(log.contains(ack(1, 6, 1000)));
  EXPECT_FALSE(log.contains("no.ack"));
  log.record(ack(1, 5 + settled_log::size, 2000));
  EXPECT_FALSE(log.contains(ack(2, 5, 1000))); // too far back
}

} // namespace
} // namespace millrace::nats::detail
