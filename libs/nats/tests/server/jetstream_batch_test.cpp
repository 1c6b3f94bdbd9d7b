// A handler of batches on JetStream: one batch is one fetch (core 2.7, nats 3.2).
#include "admin.hpp"
#include "client.hpp"
#include "nats_server.hpp"
#include "poll.hpp"

#include <millrace/millrace.hpp>

#include <numeric>
#include <span>

namespace millrace::nats::test {
namespace {

/// Keeps batches, in the order of their coming, until it is told to settle them.
class batch_sink final : public sink {
 public:
  ~batch_sink() { settle(settlement_kind::retry); }
  void deliver(incoming_batch batch, deliver_from) noexcept override {
    const std::lock_guard lock(mutex_);
    sizes_.push_back(batch.size());
    kept_.append(std::move(batch));
    changed_.notify_all();
  }
  void interrupted(error) noexcept override {}
  void resumed() noexcept override {}
  void ended(error) noexcept override {}
  void dropped(std::uint64_t) noexcept override {}

  bool wait_for(std::size_t batches) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return sizes_.size() >= batches; });
  }
  std::vector<std::size_t> sizes() {
    const std::lock_guard lock(mutex_);
    return sizes_;
  }
  void settle(settlement_kind how = settlement_kind::ack) {
    incoming_batch all;
    {
      const std::lock_guard lock(mutex_);
      all = std::move(kept_);
    }
    while (incoming* m = all.pop()) {
      (void)m->settle({how, {}});
      m->release();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  incoming_batch kept_;
  std::vector<std::size_t> sizes_;
};

using sizes = std::vector<std::size_t>;

class nats_jetstream_batches : public ::testing::Test {
 protected:
  void SetUp() override { admin_.add_stream("S", {"s.>"}, true); }
  void store(int from, int to) {
    for (int i = from; i <= to; ++i)
      admin_.store("s.a", std::to_string(i));
  }
  [[nodiscard]] static jetstream source() { return jetstream("S", "s.a").durable("d").idle_heartbeat(200ms); }
  std::unique_ptr<subscription_port> open(sink& to, std::size_t size, duration wait, unsigned workers = 1) {
    open_options options;
    options.workers = workers;
    options.batch_size = size;
    options.batch_wait = wait;
    return value_of(run(broker_.open(source(), to, options)));
  }

  nats_server server_;
  admin admin_{server_.url()};
  pool_runtime rt_{2};
  batch_sink sink_;
  connected_broker broker_ = connect(rt_, server_.url(), connect_options().reconnect_wait(20ms, 200ms));
};

} // namespace

TEST_F(nats_jetstream_batches, a_backlog_comes_in_full_batches_and_a_short_last_one) {
  store(1, 10);
  const auto s = open(sink_, 4, 50ms);
  for (std::size_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(sink_.wait_for(n));
    sink_.settle();
  }
  EXPECT_EQ(sink_.sizes(), (sizes{4, 4, 2}));
  run(s->stop());
  EXPECT_TRUE(poll([&] { return admin_.consumer("S", "d").ack_floor == 10; }, 5s));
}

// The `ack_wait` of what waits in the client would run: nothing waits there.
TEST_F(nats_jetstream_batches, no_more_than_a_batch_for_each_worker_leaves_the_server) {
  store(1, 20);
  const auto s = open(sink_, 4, 50ms, 2);
  ASSERT_TRUE(sink_.wait_for(2));
  EXPECT_EQ(admin_.consumer("S", "d").unacknowledged, 8);
  EXPECT_EQ(admin_.consumer("S", "d").pending, 12U);
  run(s->stop());
}

TEST_F(nats_jetstream_batches, a_part_is_handed_over_when_its_wait_ends_and_the_next_fetch_goes_on) {
  const auto s = open(sink_, 4, 20ms);
  store(1, 1);
  ASSERT_TRUE(sink_.wait_for(1));
  sink_.settle();
  store(2, 2);
  ASSERT_TRUE(sink_.wait_for(2));
  EXPECT_EQ(sink_.sizes(), (sizes{1, 1}));
  run(s->stop());
}

TEST_F(nats_jetstream_batches, a_part_is_handed_over_when_the_connection_is_lost) {
  store(1, 2);
  const auto s = open(sink_, 4, 1h);
  const auto both_are_gathered = [&] { // and the rest is asked for
    const auto state = admin_.consumer("S", "d");
    return state.unacknowledged == 2 && state.waiting == 1;
  };
  ASSERT_TRUE(poll(both_are_gathered, 5s));
  server_.kill();
  ASSERT_TRUE(sink_.wait_for(1));
  EXPECT_EQ(sink_.sizes(), (sizes{2}));
  run(s->stop());
}

// L3: what was gathered goes back at once, not after `ack_wait`.
TEST_F(nats_jetstream_batches, a_part_goes_back_when_the_subscription_stops) {
  const auto s = open(sink_, 4, 1h);
  store(1, 2);
  ASSERT_TRUE(poll([&] { return admin_.consumer("S", "d").unacknowledged == 2; }, 5s));
  run(s->stop());
  EXPECT_TRUE(sink_.sizes().empty());
  collecting_sink next;
  const auto again = test::open(broker_, source(), next);
  ASSERT_TRUE(next.wait_for(2, 5s));
  EXPECT_EQ(next.messages()[0].count, 2U);
  run(again->stop());
}

// Two services on one consumer: neither starves, and nothing is fetched twice.
TEST_F(nats_jetstream_batches, services_that_share_a_consumer_share_its_messages) {
  const auto s = open(sink_, 4, 5ms);
  batch_sink other;
  const auto o = open(other, 4, 5ms);
  store(1, 40);
  const auto total = [](batch_sink& b) {
    const sizes all = b.sizes();
    return std::accumulate(all.begin(), all.end(), std::size_t{0});
  };
  EXPECT_TRUE(poll(
      [&] {
        sink_.settle();
        other.settle();
        return total(sink_) + total(other) == 40;
      },
      10s));
  run(s->stop());
  run(o->stop());
  EXPECT_TRUE(poll([&] { return admin_.consumer("S", "d").ack_floor == 40; }, 5s));
}

} // namespace millrace::nats::test
