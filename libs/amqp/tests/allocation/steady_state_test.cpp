// Design, "Cost": in steady state a message that is published or consumed costs no heap block of ours, beyond what
// Proton's engine takes, and memory is flat. Proton is C and allocates by malloc; ours is operator new.
#include "allocation/acking_sink.hpp"
#include "allocation/counted_new.hpp"
#include "allocation/resident.hpp"
#include "broker/subscription.hpp"
#include "protocol/url.hpp"
#include "session/connection.hpp"
#include "transport/in_process/memory_transport.hpp"

#include <millrace/amqp.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <deque>
#include <gtest/gtest.h>

/// What Proton gives back is no growth: AddressSanitizer keeps it for a while otherwise.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"; }

namespace millrace::amqp::detail {
namespace {

using test_support::acking_sink;
using test_support::resident_kib;

struct count_here {
  count_here() noexcept { counting = true; }
  ~count_here() { counting = false; }
};

/// Counts what the client does, and not what the in-process broker behind the transport does.
class counted_transport final : public net::transport, public net::transport_listener {
 public:
  explicit counted_transport(runtime& rt) : inner_(make_local_transport(rt)) {}
  void start(net::transport_listener& to) override {
    listener_ = &to;
    inner_->start(*this);
  }
  void stop() noexcept override { inner_->stop(); }
  void wake() noexcept override { inner_->wake(); }
  bool may_run_handlers() const noexcept override { return inner_->may_run_handlers(); }
  void dial(const net::endpoint& to) noexcept override { inner_->dial(to); }
  bool write(std::string_view bytes) noexcept override { return inner_->write(bytes); }
  void drop() noexcept override { inner_->drop(); }

  void on_connected() noexcept override { listener_->on_connected(); }
  void on_lost(std::string why) noexcept override { listener_->on_lost(std::move(why)); }
  std::size_t on_bytes(std::string_view input) noexcept override {
    const count_here scope;
    return listener_->on_bytes(input);
  }
  void on_written() noexcept override {
    const count_here scope;
    listener_->on_written();
  }
  void on_wake() noexcept override {
    const count_here scope;
    listener_->on_wake();
  }

 private:
  std::shared_ptr<net::transport> inner_;
  net::transport_listener* listener_ = nullptr;
};

/// A connection with a publisher and a subscription of what it publishes.
struct rig {
  rig() {
    broker_settings settings;
    settings.idle_timeout = duration::zero();
    const auto io = std::make_shared<counted_transport>(rt);
    shared = std::make_shared<hub>(rt, settings, io);
    live = std::make_shared<connection>(shared, io, *parse_url("amqp://one"));
    EXPECT_TRUE(rt.drive(live->connect()));
    subscribed = rt.drive(open_subscription(shared, queue("orders").spec(), to));
    EXPECT_TRUE(subscribed);
    port = *connected_broker(live).pair(publish());
    headers.set("x-a-header-with-a-name", "a value that no small string holds");
  }
  ~rig() {
    subscribed->reset();
    (void)rt.run(); // what was posted is kept until it has run
  }
  /// Publishes `turns` times 50 messages; they are consumed.
  void pass(int turns) {
    for (int i = 0; i < turns; ++i) {
      std::deque<publish_operation> sent;
      for (int k = 0; k < 50; ++k) {
        publish_operation& op = sent.emplace_back(&rt);
        const count_here scope;
        port->publish({"orders", as_bytes(body), &headers, nullptr}, op);
      }
      ASSERT_TRUE(rt.run());
      for (publish_operation& op : sent)
        ASSERT_TRUE(op.done() && op.take());
    }
  }
  millrace::testing::virtual_runtime rt;
  acking_sink to{"x-a-header-with-a-name"};
  std::string body = std::string(300, 'b');
  header_map headers;
  std::shared_ptr<hub> shared;
  std::shared_ptr<connection> live;
  open_result subscribed = fail(errc::closed, "");
  std::shared_ptr<publish_port> port;
};

TEST(amqp_steady_state, a_message_that_is_published_consumed_and_accepted_allocates_nothing) {
  rig r;
  r.pass(20); // pools and buffers grow to what a turn needs
  allocations = 0;
  r.pass(100);
  EXPECT_EQ(allocations, 0U);
  EXPECT_EQ(r.to.seen, 120U * 50);
  EXPECT_TRUE(r.to.ok);
}

TEST(amqp_steady_state, memory_is_flat_over_many_messages) {
  rig r;
  r.pass(200);
  const long before = resident_kib();
  r.pass(1000); // 50,000
  EXPECT_LE(resident_kib() - before, 256);
  EXPECT_EQ(r.to.seen, 1200U * 50);
}

} // namespace
} // namespace millrace::amqp::detail
