// Design, "Cost": in steady state a message allocates nothing; what is allocated is a request's, or a response's.
#include "allocation/acking_sink.hpp"
#include "allocation/counted_new.hpp"
#include "session/connection.hpp"
#include "session/opening.hpp"
#include "session/publisher_port.hpp"
#include "unit/scripted_transport.hpp"

#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace millrace::pubsub::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t in_a_response = 500;

struct told : completion {
  told() noexcept : completion([](completion& c) noexcept { static_cast<told&>(c).set = true; }) {}
  bool set = false;
};

shared_bytes response() {
  wire::StreamingPullResponse made;
  for (std::size_t i = 0; i < in_a_response; ++i) {
    wire::ReceivedMessage& m = *made.add_received_messages();
    m.set_ack_id("projects/test-project/subscriptions/worker:" + std::to_string(i));
    m.mutable_message()->set_data("0123456789abcdef");
    m.mutable_message()->set_message_id("1234567890123456");
  }
  const auto bytes = std::make_shared<const std::string>(made.SerializeAsString());
  return {bytes, *bytes};
}

class steady_state : public ::testing::Test {
 public:
  steady_state() { shared->attach(wire); }
  ~steady_state() override { shared->abandon(); }

  static settings of_project() {
    settings made;
    made.project = "test-project";
    return made;
  }
  /// Until nothing is under way: an id for every message.
  void answer_publishes() {
    while (!wire->calls.empty()) {
      auto waiting = std::exchange(wire->calls, {});
      for (auto& one : waiting) {
        wire::PublishRequest request;
        ASSERT_TRUE(request.ParseFromString(one.body));
        wire::PublishResponse ids;
        for (int i = 0; i < request.messages_size(); ++i)
          ids.add_message_ids("1");
        call_answer a;
        a.body = ids.SerializeAsString();
        one.done(std::move(a));
      }
    }
  }

  testing::virtual_runtime rt;
  std::shared_ptr<scripted_transport> wire = std::make_shared<scripted_transport>();
  std::shared_ptr<connection> shared = std::make_shared<connection>(rt, of_project());
};

/// A response, its two acknowledging requests and their answers have some dozen blocks between them.
TEST_F(steady_state, a_consumed_and_acknowledged_message_allocates_nothing) {
  test_support::acking_sink to;
  auto opening = open_subscription(shared, subscription("worker"), {}, to);
  told opened;
  opening.start(opened);
  wire->streams[0]->events->on_opened();
  ASSERT_TRUE(rt.run());
  ASSERT_TRUE(opened.set);
  const auto port = std::move(*opening.take());
  const shared_bytes bytes = response();
  const auto pull = [&](std::size_t responses) {
    for (std::size_t i = 0; i < responses; ++i) {
      wire->streams[0]->events->on_response(bytes);
      wire->answer_all();
      wire->acked.clear();
    }
  };
  pull(3);
  const std::size_t before = allocations;
  pull(10);
  EXPECT_LE(allocations - before, 10 * in_a_response / 10);
  EXPECT_EQ(to.seen, 13 * in_a_response);
  EXPECT_TRUE(to.ok);
}

TEST_F(steady_state, a_published_message_allocates_nothing) {
  publisher_port port(shared, publish());
  outgoing m;
  m.destination = "orders";
  m.payload = as_bytes("0123456789abcdef");
  std::deque<publish_operation> operations;
  for (int i = 0; i < 4001; ++i)
    operations.emplace_back(&rt);
  std::size_t next = 0;
  const auto publish_some = [&](std::size_t messages) {
    for (; messages > 0; --messages)
      port.publish(m, operations[next++]);
  };
  publish_some(2001); // the first goes out alone, what follows waits for company
  const std::size_t before = allocations;
  publish_some(2000);
  EXPECT_LE(allocations - before, 2000U / 10);
  answer_publishes();
  EXPECT_TRUE(std::ranges::all_of(operations, &publish_operation::accepted));
}

} // namespace
} // namespace millrace::pubsub::detail
