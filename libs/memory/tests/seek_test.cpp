#include "delivery_types.hpp"

#include <millrace/receiver.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

using namespace delivery;
namespace memory = millrace::memory;

namespace {

memory::broker keeping(std::size_t messages) { return memory::broker{}.retain(memory::retention(messages, 0)); }

void publish(test_service& t, int from, int to) {
  for (int i = from; i <= to; ++i)
    t.publish("log", order{i, "x"});
}

millrace::task<std::string> read_from(millrace::runtime& rt, memory::connected_broker& broker, memory::position start,
                                      int count) {
  memory::topic source("log");
  source.start_at(start);
  auto reader = co_await millrace::open_receiver(rt, broker, source);
  if (!reader) co_return reader.error().message();
  std::string seen;
  for (int i = 0; i < count; ++i) {
    auto next = co_await (*reader)->next(1s);
    if (!next) co_return seen + "timeout";
    seen += next->text();
    EXPECT_TRUE(std::move(*next).ack());
  }
  co_await (*reader)->stop();
  co_return seen;
}

millrace::task<std::string> publish_and_read(millrace::runtime& rt) {
  auto connected = co_await keeping(10).connect(rt);
  EXPECT_TRUE(connected);
  const auto port = *connected->pair(memory::publish{});
  for (const char* text : {"a", "b", "c"}) {
    millrace::publish_operation op(&rt);
    port->publish(millrace::outgoing{"log", millrace::as_bytes(text)}, op);
    EXPECT_TRUE(op.take());
  }
  std::string all = co_await read_from(rt, *connected, memory::position::start(), 3);
  all += " " + co_await read_from(rt, *connected, memory::position::start(), 3);
  all += " " + co_await read_from(rt, *connected, memory::position::at(2), 2);
  all += " " + co_await read_from(rt, *connected, memory::position::end(), 1);
  auto closed = co_await std::move(*connected).shutdown();
  EXPECT_TRUE(closed);
  co_return all;
}

} // namespace

// core 3.57
TEST(Seek, a_subscription_begins_where_it_says_each_time_it_opens) {
  millrace::testing::virtual_runtime rt;
  EXPECT_EQ(rt.drive(publish_and_read(rt)), "abc abc bc timeout");
}

// core 3.56
TEST(Seek, back_to_a_captured_position_redelivers_that_message_and_what_follows) {
  orders_service s(keeping(10));
  auto seen = make_log();
  auto captured = std::make_shared<std::uint64_t>(0);
  s.on.subscribe("log",
                 [=](const order& o, millrace::field<memory::sequence> at, millrace::field<memory::seeker> seek) {
                   seen->push_back(std::to_string(o.id));
                   if (o.id == 2 && *captured == 0) *captured = *at;
                   if (o.id == 4 && seen->size() == 4) {
                     EXPECT_TRUE(seek->seek(memory::position::at(*captured)));
                   }
                 });
  test_service t(s.app);
  publish(t, 1, 5);
  EXPECT_EQ(*seen, (std::vector<std::string>{"1", "2", "3", "4", "2", "3", "4", "5"}));
}

// core 3.56
TEST(Seek, forward_skips_what_waits_and_new_messages_go_on) {
  orders_service s(keeping(100));
  auto seen = make_log();
  s.on.subscribe(
      "log", [=](const order& o, millrace::field<memory::seeker> seek, millrace::context& ctx) -> millrace::task<void> {
        const int id = o.id;
        seen->push_back(std::to_string(id));
        if (id != 1) co_return;
        co_await ctx.sleep_for(1s);
        EXPECT_TRUE(seek->seek(memory::position::end()));
      });
  test_service t(s.app);
  publish(t, 1, 5);
  t.advance(1s);
  publish(t, 6, 6);
  EXPECT_EQ(*seen, (std::vector<std::string>{"1", "6"}));
  t.subscription("log").settled(millrace::ack());
}

// core 3.57
TEST(Seek, a_message_that_is_gone_is_an_error_that_names_the_oldest) {
  orders_service s(keeping(2));
  auto text = std::make_shared<std::string>();
  s.on.subscribe("log", [=](const order& o, millrace::field<memory::seeker> seek) {
    if (o.id != 5) return;
    const auto done = seek->seek(memory::position::at(1));
    *text = done ? "found" : done.error().message();
  });
  test_service t(s.app);
  publish(t, 1, 5);
  EXPECT_NE(text->find("oldest is 4"), std::string::npos) << *text;
}

TEST(Seek, without_retention_a_position_aborts_the_start) {
  orders_service s;
  s.on.subscribe(memory::topic("log").from_start(), [](const order&) {});
  const auto started = test_service::start(s.app);
  ASSERT_FALSE(started);
  EXPECT_TRUE(started.error() == millrace::errc::invalid_options);
}
