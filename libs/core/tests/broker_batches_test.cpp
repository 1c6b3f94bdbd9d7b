// Batches that the broker forms (core 2.7): handed over as they came.
#include "scripted_broker.hpp"

#include <gtest/gtest.h>

#include <span>

namespace core_test {
namespace {

struct batching_topic : scripted_topic {
  using scripted_topic::scripted_topic;
  static constexpr bool forms_batches = true;
};

class broker_batches : public ::testing::Test {
 protected:
  template <class Topic> void subscribe(unsigned workers = 1) {
    rig_.on
        ->subscribe_batches(Topic("t", rig_.broker), 4,
                            [this](std::span<const bytes_view> batch) -> task<void> {
                              sizes_.push_back(batch.size());
                              co_await gate_.wait();
                            })
        .batch_wait(50ms)
        .workers(workers);
    const result<void> started = rig_.start();
    ASSERT_TRUE(started) << message_of(started);
  }
  void deliver(std::initializer_list<const char*> payloads) {
    rig_.broker->deliver_batch("t", payloads);
    rig_.settle();
  }

  scripted_rig rig_;
  event gate_{rig_.rt};
  std::vector<std::size_t> sizes_;
};

TEST_F(broker_batches, are_not_merged_while_the_handler_works) {
  subscribe<batching_topic>();
  deliver({"1", "2", "3"});
  EXPECT_EQ(sizes_, (std::vector<std::size_t>{3})); // at once: no deadline
  deliver({"4"});
  deliver({"5", "6"});
  gate_.set();
  rig_.settle();
  EXPECT_EQ(sizes_, (std::vector<std::size_t>{3, 1, 2}));
  EXPECT_EQ(rig_.broker->settled.size(), 6U);
  ASSERT_TRUE(rig_.stop());
}

TEST_F(broker_batches, go_to_a_worker_each) {
  subscribe<batching_topic>(2);
  deliver({"1", "2"});
  deliver({"3"});
  EXPECT_EQ(sizes_, (std::vector<std::size_t>{2, 1}));
  gate_.set();
  ASSERT_TRUE(rig_.stop());
}

TEST_F(broker_batches, of_another_source_are_formed_here) {
  subscribe<scripted_topic>();
  deliver({"1", "2", "3"});
  EXPECT_TRUE(sizes_.empty());
  deliver({"4", "5"});
  EXPECT_EQ(sizes_, (std::vector<std::size_t>{4}));
  gate_.set();
  rig_.advance(50ms);
  EXPECT_EQ(sizes_, (std::vector<std::size_t>{4, 1}));
  ASSERT_TRUE(rig_.stop());
}

} // namespace
} // namespace core_test
