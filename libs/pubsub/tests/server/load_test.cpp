// Start, publish, stop, again and again: nothing that a publish said was accepted is missing, and every publish that a
// stop overtook says so. A thousand runs, in four tests.
#include "fake_fixture.hpp"

#include <set>

namespace millrace::pubsub::test {
namespace {

class runs : public on_fake, public ::testing::WithParamInterface<int> {
 protected:
  /// Publishes while the broker stops: half of the messages are before the stop, the others race it.
  std::size_t run_once(int run) {
    client c(at(server));
    std::atomic<std::size_t> accepted = 0;
    task_group sends(c.rt);
    for (int i = 0; i < 40; ++i)
      sends.spawn(send(c, run, i, accepted), "a publish");
    EXPECT_TRUE(c.shutdown());
    EXPECT_TRUE(sync_wait(sends.drain(c.rt.now() + 20s)));
    return accepted;
  }
  static task<void> send(client& c, int run, int i, std::atomic<std::size_t>& accepted) {
    const bool before = i % 2 == 0;
    if (!before) co_await resume_on(c.rt);
    publish::options options;
    if (i % 4 == 0) options.ordering_key("key");
    auto sent = co_await send_task(c.rt, c.publisher, "orders", std::to_string(run), {}, options);
    if (sent)
      accepted.fetch_add(1);
    else
      EXPECT_TRUE(!before && sent.error() == millrace::errc::closed) << sent.error().message();
  }
};

TEST_P(runs, s25_lose_nothing_under_load) {
  std::size_t accepted = 0;
  for (int run = 0; run < 250; ++run)
    accepted += run_once(run);
  EXPECT_EQ(server.waiting(name), accepted);
  EXPECT_GE(accepted, 250U * 20);
}

INSTANTIATE_TEST_SUITE_P(quarter, runs, ::testing::Values(1, 2, 3, 4));

TEST_F(on_fake, a_stream_under_load_loses_nothing_while_streams_end) {
  constexpr std::size_t messages = 8'000;
  client c(at(server));
  waiting_sink seen;
  auto port = value_of(open(c, subscription("worker"), seen));
  many_sends sends(c);
  std::set<std::string> acked;
  const auto take = [&](std::chrono::milliseconds bound) {
    incoming* const m = seen.next(bound);
    if (m == nullptr) return false;
    acked.emplace(as_text(m->payload()));
    return ack(m);
  };
  for (std::size_t i = 0; i < messages; ++i) {
    sends.add("orders", std::to_string(i));
    if (i % 1600 == 0) server.end_streams(14);
    while (take(0ms)) {
    }
  }
  EXPECT_EQ(sends.accepted(), messages);
  // What was on its way on a stream that ended comes again when its lease is over.
  EXPECT_TRUE(eventually(
      [&] {
        if (!take(200ms)) server.expire_leases(name);
        return server.outstanding(name) == 0 && server.waiting(name) == 0;
      },
      30s));
  EXPECT_EQ(acked.size(), messages);
  stop(std::move(port));
}

} // namespace
} // namespace millrace::pubsub::test
