// Leases, keep-alive and settlements over hours, on the virtual clock. "s1" to "s37" are the rows of the
// specification's list.
#include "scripted_transport.hpp"
#include "session/connection.hpp"
#include "session/opening.hpp"
#include "waiting_sink.hpp"

#include <millrace/testing/virtual_runtime.hpp>

#include <algorithm>

namespace millrace::pubsub::detail {
namespace {

using namespace std::chrono_literals;
using test::ack;
using test::settle;

settings of_project(std::string project) {
  settings made;
  made.project = std::move(project);
  return made;
}

class leased : public ::testing::Test {
 public:
  ~leased() override { shared->abandon(); }

  void open(const pubsub::subscription& source) {
    shared->attach(wire);
    opening.emplace(open_subscription(shared, source, {}, seen));
    struct ended : completion {
      ended() : completion([](completion& c) noexcept { static_cast<ended&>(c).done = true; }) {}
      bool done = false;
    } static end;
    opening->start(end);
    ASSERT_EQ(wire->streams.size(), 1U);
    wire->streams[0]->events->on_opened();
    ASSERT_TRUE(rt.run());
    auto opened = opening->take();
    ASSERT_TRUE(opened);
    port = std::move(*opened);
  }
  scripted_transport::stream& stream() { return *wire->streams.back(); }

  void arrive(int messages) {
    wire::StreamingPullResponse response;
    for (int i = 0; i < messages; ++i) {
      wire::ReceivedMessage& m = *response.add_received_messages();
      m.set_ack_id("id-" + std::to_string(++last));
      m.mutable_message()->set_data("m");
    }
    const auto bytes = std::make_shared<const std::string>(response.SerializeAsString());
    stream().events->on_response({bytes, *bytes});
    ASSERT_TRUE(rt.run());
  }
  /// Time passes, and the service answers at once.
  void pass(duration d) {
    for (duration step = 1s; d > 0s; d -= step) {
      ASSERT_TRUE(rt.advance(std::min(step, d)));
      wire->answer_all();
    }
  }

  testing::virtual_runtime rt;
  std::shared_ptr<scripted_transport> wire = std::make_shared<scripted_transport>();
  std::shared_ptr<connection> shared = std::make_shared<connection>(rt, of_project("test-project"));
  std::optional<task<open_result>> opening;
  test::waiting_sink seen;
  std::unique_ptr<subscription_port> port;
  int last = 0;
};

TEST_F(leased, the_first_request_says_everything_once) {
  open(pubsub::subscription("worker").max_outstanding(7, 800).ack_extension(20s));
  wire::StreamingPullRequest first;
  ASSERT_TRUE(first.ParseFromString(stream().first));
  EXPECT_EQ(first.subscription(), "projects/test-project/subscriptions/worker");
  EXPECT_EQ(first.stream_ack_deadline_seconds(), 20);
  EXPECT_EQ(first.max_outstanding_messages(), 7);
  EXPECT_EQ(first.max_outstanding_bytes(), 800);
  EXPECT_FALSE(first.client_id().empty());
  call_status gone;
  gone.code = status_code::unavailable;
  const auto before = wire->streams[0];
  before->events->on_closed(gone);
  ASSERT_EQ(wire->streams.size(), 2U);
  wire::StreamingPullRequest second;
  ASSERT_TRUE(second.ParseFromString(stream().first));
  EXPECT_EQ(second.client_id(), first.client_id());
}

TEST_F(leased, s4_a_silent_stream_gets_an_empty_request_every_half_minute) {
  open(pubsub::subscription("worker"));
  pass(29s);
  EXPECT_TRUE(stream().sent.empty());
  pass(62s);
  EXPECT_EQ(stream().sent, (std::vector<std::string>{"", "", ""}));
}

TEST_F(leased, s12_a_slow_handler_keeps_its_message) {
  open(pubsub::subscription("worker").ack_extension(60s));
  arrive(3);
  EXPECT_TRUE(ack(seen.next(0ms)));
  pass(10min);
  const auto changes = wire->changes();
  ASSERT_GE(changes.size(), 10U);
  for (const auto& c : changes) {
    EXPECT_EQ(c.ack_deadline_seconds(), 60);
    EXPECT_EQ(c.ack_ids_size(), 2); // the third is settled
  }
}

TEST_F(leased, an_extension_goes_out_well_before_the_deadline) {
  open(pubsub::subscription("worker").ack_extension(10s));
  arrive(1);
  pass(7s);
  EXPECT_TRUE(wire->changes().empty());
  pass(1s);
  EXPECT_EQ(wire->changes().size(), 1U);
}

TEST_F(leased, s13_the_lease_ends_at_its_limit_and_a_late_ack_is_still_sent) {
  open(pubsub::subscription("worker").ack_extension(60s).max_lease(3min));
  arrive(1);
  pass(3min);
  const std::size_t extended = wire->changes().size();
  pass(10min);
  EXPECT_EQ(wire->changes().size(), extended);
  EXPECT_TRUE(ack(seen.next(0ms)));
  pass(1s);
  EXPECT_EQ(wire->acked.size(), 1U);
}

TEST_F(leased, a_delayed_retry_is_held_to_the_nanosecond_and_leased_meanwhile) {
  open(pubsub::subscription("worker").ack_extension(10s));
  arrive(1);
  EXPECT_TRUE(settle(seen.next(0ms), settlement_kind::retry_after, 90s));
  pass(90s - 1ns);
  for (const auto& c : wire->changes())
    EXPECT_EQ(c.ack_deadline_seconds(), 10);
  EXPECT_GE(wire->changes().size(), 10U);
  pass(11ms); // the settle delay
  const auto changes = wire->changes();
  EXPECT_EQ(std::ranges::count(changes, 0, &wire::ModifyAckDeadlineRequest::ack_deadline_seconds), 1);
  EXPECT_EQ(changes.back().ack_ids(0), "id-1");
}

TEST_F(leased, settlements_are_gathered_for_ten_milliseconds_or_a_quarter_of_the_window) {
  open(pubsub::subscription("worker").max_outstanding(40));
  arrive(30);
  for (int i = 0; i < 9; ++i)
    EXPECT_TRUE(ack(seen.next(0ms)));
  EXPECT_TRUE(wire->calls.empty());
  EXPECT_TRUE(ack(seen.next(0ms)));
  ASSERT_EQ(wire->calls.size(), 1U); // ten
  EXPECT_TRUE(ack(seen.next(0ms)));
  ASSERT_TRUE(rt.advance(10ms));
  EXPECT_EQ(wire->calls.size(), 2U);
  for (int i = 0; i < 19; ++i)
    EXPECT_TRUE(ack(seen.next(0ms)));
  pass(1s);
  std::size_t ids = 0;
  for (const std::string& body : wire->acked) {
    wire::AcknowledgeRequest request;
    ASSERT_TRUE(request.ParseFromString(body));
    EXPECT_EQ(request.subscription(), "projects/test-project/subscriptions/worker");
    ids += static_cast<std::size_t>(request.ack_ids_size());
  }
  EXPECT_EQ(ids, 30U);
}

TEST_F(leased, s17_of_a_refused_request_only_what_is_worth_it_is_sent_again) {
  open(pubsub::subscription("worker").max_outstanding(12));
  arrive(3);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(ack(seen.next(0ms)));
  ASSERT_EQ(wire->calls.size(), 1U); // a quarter of the window
  wire->refuse_one({{"id-1", "TRANSIENT_FAILURE_SERVICE_UNAVAILABLE"}, {"id-3", "PERMANENT_FAILURE_INVALID_ACK_ID"}});
  EXPECT_TRUE(seen.told("refused 1: ", 0ms));
  EXPECT_EQ(seen.notes().size(), 1U);
  pass(1s);
  ASSERT_EQ(wire->acked.size(), 1U);
  wire::AcknowledgeRequest again;
  ASSERT_TRUE(again.ParseFromString(wire->acked[0]));
  ASSERT_EQ(again.ack_ids_size(), 1);
  EXPECT_EQ(again.ack_ids(0), "id-1");
}

TEST_F(leased, P7_what_has_published_and_received_goes_with_its_connection) {
  open(pubsub::subscription("worker"));
  arrive(1);
  EXPECT_TRUE(ack(seen.next(0ms)));
  ASSERT_TRUE(shared->topic("orders"));
  const std::weak_ptr<connection> gone = shared;
  shared->abandon();
  port.reset();
  opening.reset();
  wire->streams.clear();
  shared = std::make_shared<connection>(rt, of_project("test-project"));
  shared->attach(wire);
  EXPECT_TRUE(gone.expired());
}

TEST_F(leased, s35_a_server_that_ignores_the_window_does_not_overrun_it) {
  open(pubsub::subscription("worker").max_outstanding(3));
  const int reads = stream().reads;
  arrive(10);
  EXPECT_EQ(seen.arrived(), 3U);
  EXPECT_EQ(stream().reads, reads); // no more is asked for
  EXPECT_TRUE(ack(seen.next(0ms)));
  EXPECT_EQ(seen.arrived(), 4U);
  for (int i = 0; i < 9; ++i)
    EXPECT_TRUE(ack(seen.next(0ms)));
  EXPECT_EQ(stream().reads, reads + 1);
}

TEST_F(leased, P9_leases_of_what_is_held_are_kept_after_the_stop) {
  open(pubsub::subscription("worker").ack_extension(10s));
  arrive(1);
  incoming* const held = seen.next(0ms);
  rt.drive(port->stop());
  EXPECT_TRUE(stream().finished);
  EXPECT_TRUE(stream().cancelled); // the server said nothing for a second
  port.reset();
  pass(1min);
  EXPECT_GE(wire->changes().size(), 6U);
  EXPECT_TRUE(ack(held));
  const std::size_t extended = wire->changes().size();
  pass(1min);
  EXPECT_EQ(wire->changes().size(), extended);
  EXPECT_EQ(wire->acked.size(), 1U);
}

} // namespace
} // namespace millrace::pubsub::detail
