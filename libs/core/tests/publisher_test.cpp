// core 2.15: the publish builder and publishers outside the life of their service.
#include "scripted_broker.hpp"

#include <millrace/memory.hpp>

#include <gtest/gtest.h>
#include <thread>

using namespace core_test;

namespace {

struct order {
  std::uint64_t id = 0;
  std::string item;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

using plain_publisher = publisher<scripted_publish>;

task<result<receipt>> send_text(plain_publisher to, std::string payload) {
  co_return co_await to.text(payload).to("orders");
}
task<result<receipt>> send_order(plain_publisher to, order o) { co_return co_await to.publish("orders", o); }
task<result<receipt>> send_everything(plain_publisher to) {
  header_map more;
  more.set("b", "from the map");
  more.set("c", "3");
  const scripted_publish::priority high{9};
  co_return co_await to.text("x").to("orders").header("a", "1").header("B", "2").headers(more).with(high);
}
task<result<reply_message>> ask(plain_publisher to) { co_return co_await to.text("x").to("prices").request(1s); }

/// A port that answers later, from another thread.
class slow_port final : public publish_port {
 public:
  void publish(const outgoing&, publish_operation& op) noexcept override { waiting = &op; }
  publish_operation* waiting = nullptr;
};

task<result<receipt>> send_through(detail::publish_cell& cell) {
  const outgoing message{"orders", as_bytes("x")};
  publish_awaiter sent(cell, message);
  co_return co_await sent;
}

} // namespace

// L4: a handle used outside its connection answers an error that names the destination.
TEST(publisher, L4_before_the_start_it_answers_not_connected) {
  scripted_rig r;
  const auto to = r.on->publisher();
  const auto sent = r.rt.drive(send_text(to, "x"));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), errc::not_connected);
  EXPECT_TRUE(sent.error().message().contains("'orders'")) << sent.error().message();
  const auto answer = r.rt.drive(ask(to));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), errc::not_connected);
  EXPECT_TRUE(answer.error().message().contains("'prices'")) << answer.error().message();
}

TEST(publisher, is_live_from_the_start_and_for_all_its_copies) {
  scripted_rig r;
  const auto to = r.on->publisher();
  const auto copy = to; // NOLINT(performance-unnecessary-copy-initialization)
  ASSERT_TRUE(r.start());
  EXPECT_TRUE(r.rt.drive(send_text(copy, "x")));
  ASSERT_EQ(r.broker->published.size(), 1U);
  EXPECT_EQ(r.broker->published[0].payload, "x");
  EXPECT_TRUE(r.stop());
  EXPECT_EQ(r.rt.drive(send_text(to, "x")).error(), errc::closed); // L4
}

TEST(publisher, encodes_values) {
  scripted_rig r;
  const auto to = r.on->publisher();
  ASSERT_TRUE(r.start());
  EXPECT_TRUE(r.rt.drive(send_order(to, {7, "cable"})));
  EXPECT_EQ(r.broker->published.at(0).payload, R"({"id":7,"item":"cable"})");
}

// core 2.15: later header steps override earlier ones, without case.
TEST(publisher, builds_headers_and_options) {
  scripted_rig r;
  const auto to = r.on->publisher();
  int priority = 0;
  r.broker->on_publish = [&](const outgoing& m) -> result<receipt> {
    priority = static_cast<const scripted_publish::options*>(m.options)->priority;
    return receipt{};
  };
  ASSERT_TRUE(r.start());
  EXPECT_TRUE(r.rt.drive(send_everything(to)));
  const header_map& h = r.broker->published.at(0).headers;
  EXPECT_EQ(h.get("a"), "1");
  EXPECT_EQ(h.get("b"), "from the map");
  EXPECT_EQ(h.get("c"), "3");
  EXPECT_EQ(h.size(), 3U);
  EXPECT_EQ(priority, 9);
}

TEST(publisher, without_headers_and_options_none_are_handed_over) {
  scripted_rig r;
  const auto to = r.on->publisher();
  bool none = false;
  r.broker->on_publish = [&](const outgoing& m) -> result<receipt> {
    none = m.headers == nullptr && m.options == nullptr;
    return receipt{};
  };
  ASSERT_TRUE(r.start());
  EXPECT_TRUE(r.rt.drive(send_text(to, "x")));
  EXPECT_TRUE(none);
}

TEST(publisher, a_port_without_requests_says_unsupported) {
  scripted_rig r;
  const auto to = r.on->publisher();
  ASSERT_TRUE(r.start());
  EXPECT_EQ(r.rt.drive(ask(to)).error(), errc::unsupported);
}

TEST(publish_operation, resumes_on_the_runtime_when_the_answer_comes_later) {
  virtual_runtime rt;
  detail::publish_cell cell;
  const auto port = std::make_shared<slow_port>();
  cell.port = port;
  cell.runtime = &rt;
  cell.live = port.get();
  bool done = false;
  task_group group(rt);
  group.spawn(
      [](detail::publish_cell& c, bool& out) -> task<> {
        auto sent = co_await send_through(c);
        out = sent && sent->sequence == 4;
      }(cell, done),
      "a publish");
  ASSERT_TRUE(port->waiting);
  std::thread([&] { // the transport's thread
    receipt r;
    r.sequence = 4;
    port->waiting->complete(std::move(r));
  })
      .join();
  EXPECT_FALSE(done);
  ASSERT_TRUE(rt.run().has_value());
  EXPECT_TRUE(done);
}

TEST(publish_operation, an_answer_inside_publish_does_not_suspend) {
  virtual_runtime rt;
  publish_operation op(&rt);
  op.complete_now(fail(errc::publish, "refused"));
  EXPECT_TRUE(op.done());
  EXPECT_FALSE(op.wait(std::noop_coroutine()));
  EXPECT_EQ(op.take().error(), errc::publish);
}

// A publisher that another thread uses while the service starts answers an error or succeeds.
TEST(publisher, may_be_used_by_another_thread_while_the_service_starts) {
  for (int i = 0; i < 200; ++i) {
    rig r;
    const auto to = r.app.with_broker(memory::broker{}).publisher();
    std::thread other([&] {
      for (bool live = false; !live;) {
        virtual_runtime elsewhere;
        const auto sent = elsewhere.drive([](publisher<memory::publish> p) -> task<result<receipt>> {
          co_return co_await p.text("x").to("orders");
        }(to));
        live = sent.has_value();
        ASSERT_TRUE(live || sent.error() == errc::not_connected);
      }
    });
    ASSERT_TRUE(r.start());
    other.join();
  }
}
