#include "admin.hpp"
#include "client.hpp"
#include "nats_server.hpp"
#include "poll.hpp"
#include "support/tcp_relay.hpp"

#include <fstream>
#include <map>

namespace millrace::nats::test {
namespace {

/// A server that soon loses patience, and a client behind a relay, which is cut by the server and by nobody else: its
/// pings come too late to notice.
class nats_slow_consumer : public ::testing::Test {
 protected:
  void SetUp() override { admin(server_.url()).add_stream("S", {"s.>"}); }

  [[nodiscard]] static connect_options patient() {
    return connect_options().reconnect_wait(20ms, 200ms).api_timeout(10s).drain_timeout(2s).ping_interval(60s);
  }
  [[nodiscard]] static jetstream source() { return jetstream("S", "s.a").durable("d").ack_wait(1s); }

  void store(int from, int to) {
    admin a(server_.url());
    for (int i = from; i < to; ++i)
      a.store("s.a", std::to_string(i));
  }

  [[nodiscard]] bool server_says(const std::string& text) const {
    std::ifstream log(server_.directory() / "log");
    for (std::string line; std::getline(log, line);)
      if (line.contains(text)) return true;
    return false;
  }

  /// Publishes more than the kernels and the server hold, until the server has enough of it.
  [[nodiscard]] bool flood_until_cut() {
    admin a(server_.url());
    const std::string payload(64UL * 1024, 'x');
    const auto cut = [&] {
      for (int i = 0; i < 16; ++i)
        a.publish("flood", payload);
      a.flush();
      return server_says("Slow Consumer");
    };
    return poll(cut, 20s);
  }

  nats_server server_{"max_pending: 1MB\nwrite_deadline: \"100ms\"\n"};
  test_support::tcp_relay relay_{server_.port(), {.server_room = 4096}};
  pool_runtime rt_{2};
};

std::map<std::string, int> times_of_each(const collecting_sink& sink) {
  std::map<std::string, int> times;
  for (const seen& m : sink.messages())
    ++times[m.payload];
  return times;
}

// nats 12.27: the server cuts a connection off that does not read. The service hears of it, is back by itself, and has
// every message of the stream; of the core subject, what was published meanwhile is lost.
TEST_F(nats_slow_consumer, N5_cut_off_by_the_server_is_seen_and_survived) {
  connected_broker b = connect(rt_, "nats://" + relay_.address(), patient());
  collecting_sink core;
  collecting_sink stream;
  const auto flooded = open(b, subject("flood"), core);
  const auto stored = open(b, source(), stream);
  store(0, 50);
  ASSERT_TRUE(stream.wait_for(50));
  ASSERT_TRUE(poll([&] { return admin(server_.url()).consumer("S", "d").unacknowledged == 0; }, 10s));

  relay_.hold(test_support::way::to_client);
  store(50, 60);
  ASSERT_TRUE(flood_until_cut());
  EXPECT_TRUE(core.events().empty());
  relay_.cut(); // without what was held: a message that is cut in two stays in nats.c's memory for ever
  ASSERT_TRUE(core.wait_for_event("interrupted"));
  ASSERT_TRUE(stream.wait_for_event("interrupted"));
  ASSERT_TRUE(core.wait_for_event("resumed"));
  ASSERT_TRUE(stream.wait_for_event("resumed"));

  const std::size_t before = core.size();
  admin(server_.url()).publish("flood", "after");
  ASSERT_TRUE(core.wait_for(before + 1));
  EXPECT_EQ(core.messages().back().payload, "after");
  store(60, 100);
  const auto settled = [&] {
    const auto state = admin(server_.url()).consumer("S", "d");
    return state.unacknowledged == 0 && state.pending == 0;
  };
  EXPECT_TRUE(poll(settled, 15s));
  const auto times = times_of_each(stream);
  ASSERT_EQ(times.size(), 100U);
  for (int i = 0; i < 100; ++i)
    if (const int n = times.at(std::to_string(i)); n != 1) {
      EXPECT_TRUE(n > 1 && i >= 50 && i < 60) << i << " came " << n << " times"; // on its way at the cut
    }
  run(flooded->stop());
  run(stored->stop());
  EXPECT_EQ(value_of(run(std::move(b).shutdown())).connects, 2U);
}

} // namespace
} // namespace millrace::nats::test
