#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using millrace::testing::virtual_runtime;

namespace {

struct line {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(line, (), (n))

using batches = std::vector<std::vector<int>>;

/// A service on one embedded broker, run on a virtual clock.
struct batch_service {
  millrace::service<> app{{.title = "batches"}};
  millrace::scope<millrace::memory::broker, void> on = app.with_broker(millrace::memory::broker{});
  millrace::publisher<millrace::memory::publish> pub = on.publisher();
  std::shared_ptr<batches> seen = std::make_shared<batches>();
  virtual_runtime rt;
  std::unique_ptr<millrace::service_run> run;

  void start() {
    run = std::make_unique<millrace::service_run>(app.core(), rt);
    const auto started = rt.drive(run->start(millrace::connect_mode::in_process));
    ASSERT_TRUE(started) << started.error().message();
  }
  void publish(const std::vector<std::string>& payloads) {
    for (const auto& p : payloads)
      rt.drive(send(p));
  }
  millrace::task<void> send(std::string payload) {
    const auto sent = co_await pub.text(payload).to("lines");
    EXPECT_TRUE(sent);
  }
  ~batch_service() {
    if (run) static_cast<void>(rt.drive(run->shutdown()));
  }
};

auto record(std::shared_ptr<batches> seen) {
  return [seen](std::span<const line> lines) {
    seen->emplace_back();
    for (const line& l : lines)
      seen->back().push_back(l.n);
  };
}

std::vector<std::string> numbered(int from, int to) {
  std::vector<std::string> all;
  for (int i = from; i <= to; ++i)
    all.push_back("{\"n\":" + std::to_string(i) + "}");
  return all;
}

} // namespace

// core 3.30
TEST(Batches, are_never_larger_than_the_size_and_never_empty) {
  batch_service s;
  s.on.subscribe_batches("lines", 2, record(s.seen)).batch_wait(10ms);
  s.start();
  s.publish(numbered(1, 3));
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_EQ(*s.seen, (batches{{1, 2}, {3}}));
}

// core 3.33
TEST(Batches, the_deadline_counts_from_the_first_element) {
  batch_service s;
  s.on.subscribe_batches("lines", 10, record(s.seen)).batch_wait(10ms);
  s.start();
  s.publish(numbered(1, 1));
  ASSERT_TRUE(s.rt.advance(6ms));
  s.publish(numbered(2, 2));
  ASSERT_TRUE(s.rt.advance(3ms));
  EXPECT_TRUE(s.seen->empty());
  ASSERT_TRUE(s.rt.advance(1ms));
  EXPECT_EQ(*s.seen, (batches{{1, 2}}));
}

TEST(Batches, a_partial_batch_of_the_embedded_broker_does_not_wait) {
  batch_service s;
  s.on.subscribe_batches("lines", 64, record(s.seen));
  s.start();
  s.publish(numbered(1, 1));
  ASSERT_TRUE(s.rt.run());
  EXPECT_EQ(*s.seen, (batches{{1}}));
}

// core 3.30
TEST(Batches, an_element_that_does_not_decode_is_settled_alone) {
  batch_service s;
  s.on.subscribe_batches("lines", 3, record(s.seen)).batch_wait(10ms);
  s.start();
  s.publish({"{\"n\":1}", "{\"n\":\"x\"}", "{\"n\":3}"});
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_EQ(*s.seen, (batches{{1, 3}}));
}

// core 3.32
TEST(Batches, the_handler_is_not_called_when_nothing_decodes) {
  batch_service s;
  s.on.subscribe_batches("lines", 2, record(s.seen)).batch_wait(10ms);
  s.start();
  s.publish({"no", "json"});
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_TRUE(s.seen->empty());
}

// core 3.31
TEST(Batches, elements_settle_one_by_one_and_missing_outcomes_are_retried) {
  batch_service s;
  auto calls = std::make_shared<batches>();
  s.on.subscribe_batches("lines", 3,
                         [calls](std::span<const line> lines) {
                           calls->emplace_back();
                           for (const line& l : lines)
                             calls->back().push_back(l.n);
                           std::vector<millrace::outcome> each;
                           each.push_back(millrace::ack());
                           if (calls->size() == 1) each.push_back(millrace::retry_after(5s));
                           return each;
                         })
      .batch_wait(10ms);
  s.start();
  s.publish(numbered(1, 3));
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_EQ(*calls, (batches{{1, 2, 3}, {3}}));
  ASSERT_TRUE(s.rt.advance(5s));
  EXPECT_EQ(*calls, (batches{{1, 2, 3}, {3}, {2}}));
}

// core 3.15
TEST(Batches, an_exception_settles_the_whole_batch_by_the_policy) {
  batch_service s;
  auto calls = std::make_shared<int>(0);
  s.on.subscribe_batches("lines", 2,
                         [calls](std::span<const line>) {
                           if (++*calls == 1) throw std::runtime_error("once");
                         })
      .batch_wait(10ms)
      .on_exception(millrace::failure_policy::retry());
  s.start();
  s.publish(numbered(1, 2));
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_EQ(*calls, 2);
  EXPECT_FALSE(s.run->failure());
}

TEST(Batches, a_coroutine_handler_suspends_and_the_next_batch_waits) {
  batch_service s;
  auto seen = s.seen;
  s.on.subscribe_batches("lines", 2,
                         [seen](std::span<const line> lines, millrace::context& ctx) -> millrace::task<void> {
                           const std::size_t size = lines.size();
                           co_await ctx.sleep_for(1s);
                           seen->push_back({static_cast<int>(size)});
                         })
      .batch_wait(10ms);
  s.start();
  s.publish(numbered(1, 4));
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_EQ(s.seen->size(), 1U);
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_EQ(*s.seen, (batches{{2}, {2}}));
}

struct doubled {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(doubled, (), (n))

/// Refuses the third publish.
class third_fails final : public millrace::publish_layer {
 public:
  explicit third_fails(std::shared_ptr<int> calls) : calls_(std::move(calls)) {}
  millrace::task<millrace::result<millrace::receipt>> around(millrace::publish_draft& d,
                                                             millrace::next_publish next) override {
    if (d.destination() == "doubled" && ++*calls_ == 3) co_return millrace::fail(millrace::errc::publish, "third");
    auto sent = co_await next();
    co_return sent;
  }

 private:
  std::shared_ptr<int> calls_;
};

auto doubling() {
  return [](std::span<const line> lines) {
    std::vector<doubled> replies;
    for (const line& l : lines)
      replies.push_back({2 * l.n});
    return replies;
  };
}

// core 2.13
TEST(BatchReplies, are_published_before_the_batch_is_acknowledged) {
  batch_service s;
  s.on.subscribe_batches("lines", 3, doubling()).batch_wait(10ms).reply("doubled");
  s.on.subscribe("doubled", [seen = s.seen](const doubled& d) { seen->push_back({d.n}); });
  s.start();
  s.publish(numbered(1, 3));
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_EQ(*s.seen, (batches{{2}, {4}, {6}}));
}

// core 3.55
TEST(BatchReplies, in_a_transaction_a_failure_leaves_no_reply_visible_and_the_batch_comes_again) {
  batch_service s;
  auto publishes = std::make_shared<int>(0);
  s.app.use(third_fails(publishes));
  s.on.subscribe_batches("lines", 3, doubling()).batch_wait(10ms).reply("doubled").transactional();
  s.on.subscribe("doubled", [seen = s.seen](const doubled& d) { seen->push_back({d.n}); });
  s.start();
  s.publish(numbered(1, 3));
  ASSERT_TRUE(s.rt.advance(1s));
  EXPECT_EQ(*s.seen, (batches{{2}, {4}, {6}}));
  EXPECT_EQ(*publishes, 6);
}

TEST(BatchReplies, without_a_destination_are_refused_before_any_io) {
  batch_service s;
  s.on.subscribe_batches("lines", 3, doubling());
  const auto checked = s.app.core()->check();
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message().find("reply"), std::string::npos);
}

// core 3.34
TEST(Batches, a_size_of_zero_is_refused_before_any_io) {
  batch_service s;
  s.on.subscribe_batches("lines", 0, record(s.seen));
  const auto checked = s.app.core()->check();
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message().find("lines"), std::string::npos);
}

// core 3.37
TEST(KeyedLanes, keep_the_order_of_a_key_under_random_handler_latency) {
  batch_service s;
  auto order = std::make_shared<std::vector<std::string>>();
  auto running = std::make_shared<int>(0);
  auto most = std::make_shared<int>(0);
  s.on.subscribe("keyed",
                 [=](const line& l, millrace::context& ctx) -> millrace::task<void> {
                   *most = std::max(*most, ++*running);
                   const std::string key(ctx.headers().get("partition-key").value_or("-"));
                   co_await ctx.sleep_for(std::chrono::milliseconds((l.n * 37) % 11));
                   order->push_back(key + std::to_string(l.n));
                   --*running;
                 })
      .workers(4)
      .by_key();
  s.start();
  const auto send = [](millrace::publisher<millrace::memory::publish> pub, int n) -> millrace::task<void> {
    const line l{n};
    const std::string key(1, static_cast<char>('a' + n % 3));
    const auto sent = co_await pub.message(l).to("keyed").header("partition-key", key);
    EXPECT_TRUE(sent);
  };
  for (int n = 0; n < 30; ++n)
    s.rt.drive(send(s.pub, n));
  ASSERT_TRUE(s.rt.advance(10s));
  ASSERT_EQ(order->size(), 30U);
  std::map<char, int> last;
  for (const auto& entry : *order) {
    const int n = std::stoi(entry.substr(1));
    if (last.contains(entry[0])) {
      EXPECT_LT(last[entry[0]], n) << entry;
    }
    last[entry[0]] = n;
  }
  EXPECT_GT(*most, 1);
  EXPECT_LE(*most, 4);
}
