// core 2.5: with threads(0) a handler runs on the thread that delivers, one message at a time, whoever delivers.
#include "support.hpp"

#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace core_test;

namespace {

constexpr std::size_t feeders = 3;
constexpr std::size_t each = 4000;

/// A message that only counts.
class counted_message final : public incoming {
 public:
  void load(bytes_view payload) noexcept { payload_ = payload; }
  const header_map& headers() override { return none_; }
  result<void> settle(settlement) noexcept override {
    ++settled;
    return {};
  }
  void release() noexcept override { ++released; }

  std::atomic<int> settled = 0;
  std::atomic<int> released = 0;

 private:
  header_map none_;
};

/// What the test feeds, past any broker.
struct feed {
  std::atomic<sink*> to = nullptr;
  std::shared_mutex stopping; ///< shared while something is delivered
  bool stopped = false;
  bool redelivers = false;
  std::array<std::vector<counted_message>, feeders> messages;
  feed() {
    for (auto& mine : messages)
      mine = std::vector<counted_message>(each);
  }
  void run(std::size_t feeder) {
    for (std::size_t i = 0; i < each; ++i) {
      counted_message& m = messages[feeder][i];
      m.load(as_bytes(i % 50 == 0 ? "wait" : "go"));
      incoming_batch batch;
      batch.push(m);
      const std::shared_lock delivering(stopping);
      if (stopped) return;
      to.load()->deliver(std::move(batch), deliver_from::io_thread);
    }
  }
  template <class Check> void for_each(Check check) {
    for (auto& mine : messages)
      std::ranges::for_each(mine, check);
  }
};

class feed_subscription final : public subscription_port {
 public:
  explicit feed_subscription(std::shared_ptr<feed> from) : feed_(std::move(from)) {}
  task<void> stop() override {
    const std::unique_lock nobody_delivers(feed_->stopping);
    feed_->stopped = true;
    co_return;
  }
  bool redelivers() const noexcept override { return feed_->redelivers; }

 private:
  std::shared_ptr<feed> feed_;
};

class feed_topic {
 public:
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] result<void> check() const { return {}; }
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::broker_moves, ""}; }

 private:
  std::string name_ = "fed";
};

class no_port final : public publish_port {
 public:
  void publish(const outgoing&, publish_operation& op) noexcept override {
    op.complete_now(fail(errc::unsupported, "publish"));
  }
};

class feed_connection {
 public:
  struct closed_type {};
  using default_policy = struct no_publish {
    struct options {};
  };
  explicit feed_connection(std::shared_ptr<feed> from) : feed_(std::move(from)) {}
  result<std::shared_ptr<publish_port>> pair(const no_publish&) { return std::make_shared<no_port>(); }
  task<open_result> open(const feed_topic&, sink& to, const open_options&) {
    feed_->to = &to;
    co_return std::make_unique<feed_subscription>(feed_);
  }
  task<result<closed_type>> shutdown() && { co_return closed_type{}; }

 private:
  std::shared_ptr<feed> feed_;
};

class feed_broker {
 public:
  using connected_type = feed_connection;
  explicit feed_broker(std::shared_ptr<feed> from) : feed_(std::move(from)) {}
  [[nodiscard]] std::string describe() const { return "feed"; }
  task<result<feed_connection>> connect(runtime&) && { co_return feed_connection(feed_); }
  task<result<feed_connection>> connect_in_process(runtime&) && { co_return feed_connection(feed_); }

 private:
  std::shared_ptr<feed> feed_;
};

struct inline_dispatch : ::testing::Test {
  struct visit {
    explicit visit(inline_dispatch& t) : test(&t) {
      if (++test->inside != 1) ++test->together;
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { --test->inside; }
    inline_dispatch* test;
  };

  std::shared_ptr<feed> from = std::make_shared<feed>();
  service<> app{service_info{"inline"}};
  std::atomic<int> inside = 0;
  std::atomic<int> together = 0; ///< more than one call at once
  std::atomic<std::size_t> finished = 0;

  running_service start() {
    app.threads(0);
    auto on = app.with_broker(feed_broker(from));
    on.subscribe(feed_topic{}, [this](bytes_view payload, context& ctx) -> task<outcome> {
      const visit here(*this);
      if (as_text(payload) == "wait") co_await ctx.sleep_for(10us); // the rest comes on another thread
      ++finished;
      co_return ack();
    });
    auto started = app.start();
    EXPECT_TRUE(started) << started.error().message();
    return std::move(*started);
  }
  void feed_all() {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < feeders; ++i)
      threads.emplace_back([this, i] { from->run(i); });
  }
};

} // namespace

TEST_F(inline_dispatch, many_threads_deliver_and_one_message_is_handled_at_a_time) {
  auto running = start();
  feed_all(); // nothing can be delivered again: the shutdown handles the rest
  ASSERT_TRUE(running.shutdown());
  EXPECT_EQ(together, 0);
  EXPECT_EQ(finished, feeders * each);
  from->for_each([](const counted_message& m) {
    ASSERT_EQ(m.settled, 1);
    ASSERT_EQ(m.released, 1);
  });
}

// lifecycle L3: what waits when the service stops goes back unsettled, what is handled is settled, nothing is both.
TEST_F(inline_dispatch, a_shutdown_under_load_handles_or_gives_back_every_message_once) {
  from->redelivers = true;
  auto running = start();
  {
    std::jthread feeding([this] { from->run(0); });
    while (finished < each / 8)
      std::this_thread::yield();
    ASSERT_TRUE(running.shutdown());
  }
  EXPECT_EQ(together, 0);
  std::size_t handled = 0;
  for (const counted_message& m : from->messages[0]) {
    ASSERT_LE(m.settled, 1);
    handled += static_cast<std::size_t>(m.settled);
  }
  EXPECT_EQ(handled, finished);
}
