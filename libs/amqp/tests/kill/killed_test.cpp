// A server that dies and comes back. It starts twice: 9 s, and more than a minute on a busy machine. Built with
// -D MILLRACE_KILL_SERVERS=ON.
#include "support/client.hpp"
#include "support/live_server.hpp"
#include "support/take_all.hpp"

#include <gtest/gtest.h>

#include <set>

namespace millrace::amqp::testing {
namespace {

/// The server dies and comes back: what was accepted and not settled is there, and everything goes on.
TEST(amqp_killed, a_killed_server_loses_nothing_that_was_accepted) {
  own_server own("artemis");
  const std::string address = fresh_name("killed");
  waiting_sink to;
  client c(broker(own.url()).publish_timeout(60s));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  const auto open = c.open(queue(address).credit(10), to);
  ASSERT_TRUE(open);
  const auto port = c.pair(publish());
  std::set<std::string> accepted;
  for (int i = 0; i < 50; ++i) {
    if (c.send(*port, address, std::to_string(i))) accepted.insert(std::to_string(i));
  }
  ASSERT_EQ(accepted.size(), 50U);
  for (int i = 0; i < 5; ++i) {
    incoming* const m = to.next();
    ASSERT_NE(m, nullptr);
    accepted.erase(text_of(m));
    EXPECT_TRUE(settle(m));
  }
  ASSERT_TRUE(c.send(*port, address, "last")); // behind the settlements
  accepted.insert("last");
  own.kill();
  ASSERT_TRUE(to.told("interrupted"));
  while (incoming* const m = to.next(0ms))
    m->release();
  own.start();
  ASSERT_TRUE(to.told("resumed", 40s));
  ASSERT_NO_FATAL_FAILURE(take_all(to, std::move(accepted)));
  EXPECT_TRUE(c.send(*port, address, "after"));
}

} // namespace
} // namespace millrace::amqp::testing
