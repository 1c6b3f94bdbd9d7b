#include "server/live_server.hpp"

#include <gtest/gtest.h>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

void stage(transaction_port& tx, runtime& rt, const std::string& destination, const std::string& text) {
  publish_operation op(&rt);
  tx.publish({destination, as_bytes(text), nullptr, nullptr}, op);
  ASSERT_TRUE(op.done());
  EXPECT_TRUE(op.take());
}

template <class Policy> void commits_and_aborts(const Policy& policy) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("tx");
  const auto open = c.open(client::temporary(name), to);
  ASSERT_TRUE(open);
  const auto port = c.pair(policy);
  auto kept = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(kept) << kept.error().message();
  stage(**kept, c.rt, name, "one");
  stage(**kept, c.rt, name, "two");
  EXPECT_EQ(to.next(100ms), nullptr); // nothing before the commit
  EXPECT_TRUE(sync_wait((*kept)->commit()));
  for (const char* text : {"one", "two"}) {
    incoming* m = to.next();
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(as_text(m->payload()), text);
    EXPECT_TRUE(settle(m));
  }
  auto dropped = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(dropped);
  stage(**dropped, c.rt, name, "never");
  EXPECT_TRUE(sync_wait((*dropped)->abort()));
  auto empty = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(empty);
  EXPECT_TRUE(sync_wait((*empty)->commit()));
  EXPECT_EQ(to.next(100ms), nullptr);
  auto late = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(late);
  ASSERT_TRUE(c.shutdown());
  publish_operation op(&c.rt);
  const std::string text = "late";
  (*late)->publish({name, as_bytes(text), nullptr, nullptr}, op); // a buffer takes it, the commit tells
  const auto committed = sync_wait((*late)->commit());
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error(), millrace::errc::closed); // R6
}

/// R4: the channel opens with the first use; R6: after the shutdown a commit answers closed.
TEST(rabbitmq_transactions, R4_R6_confirms_publish_their_buffer_at_the_commit) { commits_and_aborts(confirms()); }
TEST(rabbitmq_transactions, R4_R6_the_server_holds_a_transaction_until_the_commit) {
  commits_and_aborts(transactions());
}

/// Scenario 11: a failure midway does not undo what was published, and is told.
TEST(rabbitmq_transactions, a_commit_that_fails_midway_tells_the_first_failure) {
  client c;
  waiting_sink to;
  const std::string name = fresh_name("midway");
  const auto open = c.open(client::temporary(name), to);
  const auto port = c.pair(confirms());
  auto tx = sync_wait(port->begin(transaction_kind::owned));
  ASSERT_TRUE(tx);
  stage(**tx, c.rt, name, "one");
  stage(**tx, c.rt, fresh_name("nowhere"), "lost");
  stage(**tx, c.rt, name, "three");
  const auto committed = sync_wait((*tx)->commit());
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().server_code(), 312);
  EXPECT_TRUE(settle(to.next()));
  EXPECT_TRUE(settle(to.next()));
}

/// Scenario 12: a channel that dies with a transaction open never becomes an empty commit.
TEST(rabbitmq_transactions, a_lost_channel_fails_the_commit) {
  client c;
  const auto port = c.pair(transactions().exchange(fresh_name("missing")));
  auto tx = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(tx);
  stage(**tx, c.rt, "k", "x"); // 404: the server closes the channel
  const auto committed = sync_wait((*tx)->commit());
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error(), millrace::errc::publish);
  EXPECT_TRUE(sync_wait((*tx)->abort()));
  auto next = sync_wait(port->begin(transaction_kind::borrowed));
  ASSERT_TRUE(next);
  EXPECT_TRUE(sync_wait((*next)->commit()));
}

} // namespace
} // namespace millrace::rabbitmq::testing
