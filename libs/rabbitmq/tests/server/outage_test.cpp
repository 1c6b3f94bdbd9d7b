#include "server/collector.hpp"
#include "server/live_server.hpp"

#include <millrace/context.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

queue lasting(const std::string& name) {
  return queue(name).argument("x-expires", 120'000).prefetch(50).with_topology(topology::declare);
}

broker patient(const fragile_server& server) {
  return broker(server.url()).backoff(50ms, 500ms).publish_timeout(50s).heartbeat(1s);
}

/// Publishes with confirms from several threads, each message until it is confirmed.
class load {
 public:
  static constexpr int threads = 4;
  load(client& c, std::string queue, int each) : queue_(std::move(queue)), port_(c.pair(confirms())) {
    for (int id = 0; id < threads; ++id)
      threads_.emplace_back([this, &c, id, each] { run(c, id * each, each); });
  }
  /// Waits until so many are confirmed.
  void reach(int n) {
    for (int now = confirmed_.load(); now < n; now = confirmed_.load())
      confirmed_.wait(now);
  }
  [[nodiscard]] int refused() const noexcept { return refused_.load(); }
  void wait() { threads_.clear(); }

 private:
  void run(client& c, int first, int n) {
    for (int i = first; i < first + n; ++i) {
      while (!c.send(*port_, queue_, std::to_string(i)))
        ++refused_; // in flight when the server went: whether it has the message is unknown
      ++confirmed_;
      confirmed_.notify_all();
    }
  }
  std::string queue_;
  std::shared_ptr<publish_port> port_;
  std::atomic<int> confirmed_ = 0;
  std::atomic<int> refused_ = 0;
  std::vector<std::jthread> threads_;
};

/// A message that waits at the server for its retry, and is on the server's disk.
class delayed_message {
 public:
  delayed_message(const fragile_server& server, client& c, duration delay) {
    open_ = c.open(lasting(name_).delay(delay::waiting_queue(name_ + ".w")), to_);
    const auto port = c.pair(confirms());
    EXPECT_TRUE(open_ && c.send(*port, name_, "delayed"));
    EXPECT_TRUE(settle(to_.next(), settlement_kind::retry_after, delay));
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (server.messages(name_ + ".w") != "1" && std::chrono::steady_clock::now() < until) {
    }
    message_options soon;
    soon.expiration = 1ms; // what is behind the copy is confirmed when both are on the disk
    EXPECT_TRUE(c.send(*port, name_ + ".w", "behind it", nullptr, &soon));
  }
  /// Waits until it comes back.
  bool returns() {
    for (incoming* m = to_.next(40s); m != nullptr; m = to_.next(40s)) {
      const bool found = as_text(m->payload()) == "delayed" && m->headers().get(retry_count_header) == "1";
      (void)settle(m);
      if (found) return true;
    }
    return false;
  }

 private:
  std::string name_ = fresh_name("delayed");
  waiting_sink to_;
  open_result open_;
};

/// How long the server stands still: long enough to be missed by the heartbeat, and for attempts to connect that
/// run into their time. MILLRACE_OUTAGE_SECONDS says otherwise.
std::chrono::seconds outage() {
  const char* const said = std::getenv("MILLRACE_OUTAGE_SECONDS");
  return std::chrono::seconds(said != nullptr ? std::atoi(said) : 3);
}

/// Scenarios 1 and 14: the server is killed and started again under load. Every message that was confirmed arrives, the
/// subscription comes back by itself, and no publish hangs. Scenario 26: what waited for its retry is still there.
TEST(rabbitmq_outages, what_was_confirmed_survives_kill_and_restart_under_load) {
  fragile_server server;
  const std::string name = fresh_name("killed");
  waiting_sink to;
  client c(patient(server));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  const auto open = c.open(lasting(name), to);
  ASSERT_TRUE(open) << open.error().message();
  delayed_message delayed(server, c, 10s);
  server.write_declarations();
  constexpr int each = 150;
  collector collected(to, std::size_t{load::threads} * each);
  load publishing(c, name, each);
  publishing.reach(load::threads * each / 3);
  server.kill();
  EXPECT_TRUE(to.told("interrupted"));
  server.start();
  publishing.wait();
  EXPECT_EQ(collected.wait().size(), std::size_t{load::threads} * each);
  EXPECT_TRUE(to.told("resumed"));
  EXPECT_LE(publishing.refused(), 100);
  EXPECT_TRUE(delayed.returns());
}

/// Scenario 14: the server is stopped and its connections stay open; the system even lets new ones in, and nobody
/// answers. Found after two heartbeat intervals; when it goes on, nothing that was confirmed is missing.
TEST(rabbitmq_outages, a_server_that_stands_still_is_found_by_the_heartbeat_and_nothing_is_lost) {
  fragile_server server;
  const std::string name = fresh_name("stopped");
  waiting_sink to;
  client c(patient(server).connect_timeout(1s));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  const auto open = c.open(lasting(name), to);
  ASSERT_TRUE(open) << open.error().message();
  constexpr int each = 100;
  collector collected(to, std::size_t{load::threads} * each);
  load publishing(c, name, each);
  publishing.reach(load::threads * each / 3);
  const auto before = std::chrono::steady_clock::now();
  server.pause();
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_GE(std::chrono::steady_clock::now() - before, 1s);
  EXPECT_LE(std::chrono::steady_clock::now() - before, 5s);
  EXPECT_FALSE(to.told("resumed", outage()));
  server.resume();
  publishing.wait();
  EXPECT_EQ(collected.wait().size(), std::size_t{load::threads} * each);
  EXPECT_TRUE(to.told("resumed"));
}

/// Scenario 13: the server's memory alarm. Health shows the server's reason, publishes wait within their bound, the
/// shutdown of a blocked connection is bounded, and when the alarm ends what waited is sent.
TEST(rabbitmq_outages, a_memory_alarm_blocks_publishes_and_loses_none) {
  fragile_server server;
  const std::string name = fresh_name("alarm");
  waiting_sink to;
  client c(patient(server).heartbeat(60s));
  client hasty(patient(server).heartbeat(60s).publish_timeout(200ms).close_timeout(200ms));
  ASSERT_TRUE(c.connected() && hasty.connected());
  const auto open = c.open(lasting(name), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto confirming = c.pair(confirms());
  const auto plain = hasty.pair(publish());
  ASSERT_TRUE(c.send(*confirming, name, "before"));
  ASSERT_TRUE(hasty.send(*plain, fresh_name("nowhere"), "publishes, so that it is blocked too"));
  server.eval("vm_memory_monitor:set_vm_memory_high_watermark({absolute, 1000000})");
  std::jthread waits([&] { EXPECT_TRUE(c.send(*confirming, name, "during")); });
  EXPECT_TRUE(to.told("interrupted"));
  EXPECT_NE(to.last_told().find("memory"), std::string::npos) << to.last_told();
  const auto late = [&] {
    auto sent = hasty.send(*plain, name, "never");
    while (sent)
      sent = hasty.send(*plain, name, "until it hears of the alarm");
    return sent;
  }();
  EXPECT_EQ(late.error(), millrace::errc::timeout);
  EXPECT_TRUE(hasty.shutdown());
  server.eval("vm_memory_monitor:set_vm_memory_high_watermark(0.4)");
  waits.join();
  EXPECT_TRUE(to.told("resumed"));
  std::set<std::string> bodies;
  while (!bodies.contains("during")) {
    incoming* m = to.next();
    ASSERT_NE(m, nullptr);
    bodies.emplace(as_text(m->payload()));
    EXPECT_TRUE(settle(m));
  }
  EXPECT_TRUE(bodies.contains("before"));
}

} // namespace
} // namespace millrace::rabbitmq::testing
