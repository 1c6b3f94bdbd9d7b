// Design, "Cost": in steady state a consumed message allocates nothing, and memory is flat. Counted, not guessed.
#include "allocation/acking_sink.hpp"
#include "allocation/counted_new.hpp"
#include "allocation/resident.hpp"
#include "broker/ports.hpp"
#include "broker/subscription.hpp"
#include "protocol/content.hpp"
#include "protocol/uri.hpp"
#include "session/session.hpp"

#include <millrace/rabbitmq.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

using namespace millrace;
using namespace millrace::rabbitmq;
namespace wire = millrace::rabbitmq::detail;

namespace {

using test_support::acking_sink;
using test_support::resident_kib;

/// A server that says what it is told to, and takes everything.
class canned_server final : public net::transport {
 public:
  void start(net::transport_listener& to) override { listener_ = &to; }
  void stop() noexcept override {}
  void wake() noexcept override { woken_ = true; }
  void dial(const net::endpoint& /*to*/) noexcept override { dialled_ = true; }
  bool may_run_handlers() const noexcept override { return true; }
  bool write(std::string_view bytes) noexcept override {
    written += bytes.size();
    writing_ = true;
    return false;
  }
  void drop() noexcept override {}

  /// Lets the client do what it can.
  void turn() {
    while (dialled_ || writing_ || woken_) {
      if (std::exchange(dialled_, false)) listener_->on_connected();
      if (std::exchange(writing_, false)) listener_->on_written();
      if (std::exchange(woken_, false)) listener_->on_wake();
    }
  }
  void say(std::string_view bytes) {
    ASSERT_EQ(listener_->on_bytes(bytes), bytes.size());
    turn();
  }
  std::size_t written = 0;

 private:
  net::transport_listener* listener_ = nullptr;
  bool dialled_ = false;
  bool writing_ = false;
  bool woken_ = false;
};

std::string method_frame(std::uint16_t channel, wire::method what,
                         const std::function<void(wire::writer&)>& args = {}) {
  std::string out;
  wire::frame_writer f(out, wire::frame_type::method, channel);
  f.u32(static_cast<std::uint32_t>(what));
  if (args) args(f);
  f.end();
  return out;
}

/// basic.deliver, header with a table, body.
std::string delivered(std::uint16_t channel, std::string_view body) {
  std::string out = method_frame(channel, wire::method::basic_deliver, [](wire::writer& w) {
    w.short_string("ctag");
    w.u64(1);
    w.u8(0);
    w.short_string("");
    w.short_string("a queue whose name is long");
  });
  wire::frame_writer header(out, wire::frame_type::header, channel);
  header.u32(60 << 16);
  header.u64(body.size());
  header.u16(1 << 13 | 1 << 12);
  const std::size_t table = header.begin_length();
  header.short_string("x-a-header-with-a-name");
  header.u8('S');
  header.long_string("a value that no small string holds");
  header.end_length(table);
  header.u8(2);
  header.end();
  wire::frame_writer part(out, wire::frame_type::body, channel);
  out.append(body);
  part.end();
  return out;
}

struct told : completion {
  told() noexcept : completion([](completion& c) noexcept { static_cast<told&>(c).set = true; }) {}
  bool set = false;
};

/// A connected session with one consumer on channel 2.
struct rig {
  rig() {
    link = std::make_shared<wire::link>(rt, wire::broker_settings(), server);
    session = std::make_shared<wire::session>(link, server, *wire::parse_uri("amqp://one"));
    auto connecting = session->connect();
    told connected;
    connecting.start(connected);
    server->turn();
    server->say(method_frame(0, wire::method::connection_start, [](wire::writer& w) {
      w.u16(9);
      w.u32(0);
      w.long_string("PLAIN");
      w.long_string("en_US");
    }));
    server->say(method_frame(0, wire::method::connection_tune, [](wire::writer& w) {
      w.u16(2047);
      w.u32(wire::largest_frame);
      w.u16(0);
    }));
    server->say(method_frame(0, wire::method::connection_open_ok, [](wire::writer& w) { w.u8(0); }));
    server->say(method_frame(1, wire::method::channel_open_ok, [](wire::writer& w) { w.u32(0); }));
    EXPECT_TRUE(rt.run());
    auto opening = wire::open_subscription(link, queue("orders").spec(), to, {});
    told opened;
    opening.start(opened);
    server->turn();
    server->say(method_frame(2, wire::method::channel_open_ok, [](wire::writer& w) { w.u32(0); }));
    server->say(method_frame(2, wire::method::basic_consume_ok, [](wire::writer& w) { w.short_string("ctag"); }));
    EXPECT_TRUE(rt.run());
    EXPECT_TRUE(connected.set && opened.set);
    subscription = std::move(*opening.take());
  }
  void consume(std::string_view turn, std::size_t turns) {
    for (std::size_t i = 0; i < turns; ++i)
      server->say(turn);
  }

  millrace::testing::virtual_runtime rt;
  std::shared_ptr<canned_server> server = std::make_shared<canned_server>();
  std::shared_ptr<wire::link> link;
  std::shared_ptr<wire::session> session;
  acking_sink to{"x-a-header-with-a-name"};
  std::unique_ptr<subscription_port> subscription;
};

std::string repeated(const std::string& part, int n) {
  std::string all;
  for (int i = 0; i < n; ++i)
    all += part;
  return all;
}

} // namespace

TEST(rabbitmq_steady_state, a_consumed_and_acknowledged_message_allocates_nothing) {
  rig r;
  const std::string turn = repeated(delivered(2, std::string(300, 'b')), 50);
  r.consume(turn, 5); // pools and buffers grow to what a turn needs
  const std::size_t before = allocations;
  r.consume(turn, 100);
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_EQ(r.to.seen, 105U * 50);
  EXPECT_TRUE(r.to.ok);
}

TEST(rabbitmq_steady_state, memory_is_flat_over_many_messages) {
  rig r;
  const std::string turn = repeated(delivered(2, std::string(16, 'b')), 250);
  r.consume(turn, 80);
  const long before = resident_kib();
  r.consume(turn, 800); // 200,000
  EXPECT_LE(resident_kib() - before, 256);
  EXPECT_EQ(r.to.seen, 880U * 250);
}

TEST(rabbitmq_steady_state, a_publish_that_is_handed_over_allocates_nothing) {
  rig r;
  connected_broker connected(r.session);
  const auto port = *connected.pair(publish());
  const std::string body(300, 'b');
  const auto publish_turn = [&] {
    for (int i = 0; i < 50; ++i) {
      publish_operation op(&r.rt);
      port->publish({"orders", as_bytes(body), nullptr, nullptr}, op);
      ASSERT_TRUE(op.done());
    }
    r.server->turn();
  };
  for (int i = 0; i < 5; ++i)
    publish_turn();
  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i)
    publish_turn();
  EXPECT_EQ(allocations - before, 0U);
}
