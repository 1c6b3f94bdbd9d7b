// core 2.5: what follows a settlement waits for the broker's own answer, where that comes later.
#include "scripted_broker.hpp"

#include <millrace/delivery.hpp>

#include <gtest/gtest.h>

using namespace core_test;

namespace {

struct late_confirmation : ::testing::Test {
  scripted_rig r;
  std::vector<std::string> ran;

  late_confirmation() { r.broker->confirms = true; }
  /// The handler settles as `how` and leaves its payload behind.
  void subscribe(outcome (*how)()) {
    r.subscribe("orders", [this, how](bytes_view payload) {
      std::string text(as_text(payload));
      r.broker->journal.push_back("handle " + text);
      return how().then([this, text] { ran.push_back(text); });
    });
    ASSERT_TRUE(r.start());
  }
  void subscribe_batches(std::function<std::vector<outcome>(std::size_t)> each) {
    r.on->subscribe_batches(scripted_topic("orders", r.broker), 2,
                            [this, each = std::move(each)](std::span<const bytes_view> batch, context& ctx) {
                              ctx.after_settle([this] { ran.emplace_back("batch"); });
                              return each(batch.size());
                            });
    ASSERT_TRUE(r.start());
    r.broker->deliver_batch("orders", {"1", "2"});
    r.settle();
  }
  void confirm(std::size_t i) {
    r.broker->unconfirmed.at(i)->confirm();
    r.settle();
  }
  void refuse(std::size_t i) {
    r.broker->unconfirmed.at(i)->refuse(error(errc::closed, "too late"));
    r.settle();
  }
};
using texts = std::vector<std::string>;

std::vector<outcome> acknowledge_each(std::size_t n) {
  std::vector<outcome> each;
  each.reserve(n);
  while (each.size() < n)
    each.push_back(ack());
  return each;
}

task<void> keep_answer(task<result<void>> settling, std::optional<result<void>>& answer) {
  answer = co_await std::move(settling);
}

TEST_F(late_confirmation, is_what_a_continuation_waits_for) {
  subscribe([] { return ack(); });
  r.deliver("orders", "1");
  EXPECT_EQ(ran, texts{});
  confirm(0);
  EXPECT_EQ(ran, texts{"1"});
}

TEST_F(late_confirmation, that_does_not_come_leaves_the_continuation_out) {
  subscribe([] { return ack(); });
  r.deliver("orders", "1");
  refuse(0);
  EXPECT_EQ(ran, texts{});
}

TEST_F(late_confirmation, holds_neither_the_worker_nor_the_message) {
  subscribe([] { return ack(); });
  r.deliver("orders", "1");
  r.deliver("orders", "2");
  EXPECT_EQ(r.broker->times("release"), 2U);
  confirm(1);
  EXPECT_EQ(ran, texts{"2"});
  refuse(0);
}

TEST_F(late_confirmation, counts_for_a_retry_too) {
  r.broker->counts = true;
  subscribe([] { return retry(); });
  r.broker->on_settle = [&](settlement) {
    r.broker->sinks.clear(); // it goes to somebody else
    return result<void>{};
  };
  r.deliver("orders", "1");
  EXPECT_EQ(ran, texts{});
  confirm(0);
  EXPECT_EQ(ran, texts{"1"});
}

TEST_F(late_confirmation, is_not_asked_for_where_nothing_follows) {
  r.subscribe("orders", [](bytes_view) {});
  ASSERT_TRUE(r.start());
  r.deliver("orders", "1");
  EXPECT_EQ(r.broker->times("settle ack"), 1U);
  EXPECT_TRUE(r.broker->unconfirmed.empty());
}

task<void> confirm_in_a_second(runtime& rt, script& broker) {
  co_await sleep_for(rt, 1s);
  broker.unconfirmed.at(0)->confirm();
}

TEST_F(late_confirmation, is_waited_for_by_the_shutdown) {
  subscribe([] { return ack().then([] {}); });
  r.deliver("orders", "1");
  task_group others(r.rt);
  others.spawn(confirm_in_a_second(r.rt, *r.broker), "a confirmation");
  EXPECT_TRUE(r.stop());
  EXPECT_EQ(ran, texts{"1"});
}

TEST_F(late_confirmation, is_what_a_program_without_a_service_can_wait_for) {
  r.broker->confirms = true;
  r.broker->clock = &r.rt;
  for (const bool refused : {false, true}) {
    scripted_message m(*r.broker, "orders", "1", {});
    auto settling = delivery(m).settle_confirmed({});
    std::optional<result<void>> answer;
    task_group others(r.rt);
    others.spawn(keep_answer(std::move(settling), answer), "a settlement");
    r.settle();
    EXPECT_FALSE(answer.has_value());
    refused ? refuse(r.broker->unconfirmed.size() - 1) : confirm(r.broker->unconfirmed.size() - 1);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->has_value(), !refused);
  }
}

TEST_F(late_confirmation, of_every_element_is_what_the_batch_waits_for) {
  subscribe_batches(acknowledge_each);
  confirm(1);
  EXPECT_EQ(ran, texts{});
  confirm(0);
  EXPECT_EQ(ran, texts{"batch"});
}

TEST_F(late_confirmation, of_an_element_that_does_not_come_leaves_the_batchs_continuation_out) {
  subscribe_batches([this](std::size_t) {
    std::vector<outcome> each;
    each.push_back(ack().then([this] { ran.emplace_back("1"); }));
    each.push_back(ack().then([this] { ran.emplace_back("2"); }));
    return each;
  });
  refuse(0);
  confirm(1);
  EXPECT_EQ(ran, texts{"2"});
}

TEST_F(late_confirmation, at_once_refused_settlements_count_for_the_batch) {
  r.broker->on_settle = [](settlement) { return fail(errc::closed, "gone"); };
  subscribe_batches(acknowledge_each);
  EXPECT_EQ(ran, texts{});
}

} // namespace
