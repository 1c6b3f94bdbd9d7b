#include "fixture.hpp"

namespace memory_test {
namespace {

task<result<receipt>> answer_late(service_run& run, memory_publisher to, std::string* inbox) {
  auto asked = co_await ask(to, "questions", "anybody?", 10ms);
  EXPECT_TRUE(!asked && asked.error() == errc::timeout);
  const header_map none;
  auto sent = co_await send(to, *inbox, "too late", none);
  [[maybe_unused]] const auto stopped = co_await run.shutdown();
  co_return sent;
}

// An answer that nobody waits for any more is dropped: as a topic it would stay for ever, one more a lost request.
TEST(memory_request, a_late_answer_leaves_no_topic) {
  virtual_runtime rt;
  service app{{.title = "late"}};
  auto on = app.with_broker(memory::broker{}.retain({10, 0}));
  auto inbox = std::make_shared<std::string>();
  on.subscribe("questions", [inbox](bytes_view, context& ctx) { *inbox = ctx.reply_to(); });
  const memory_publisher to = on.publisher();
  service_run run(app.core(), rt);
  ASSERT_TRUE(rt.drive(run.start(connect_mode::in_process)));
  const auto sent = rt.drive(answer_late(run, to, inbox.get()));
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->sequence, 0U);
  EXPECT_TRUE(inbox->starts_with("_reply."));
}

TEST(memory_request, an_answer_address_is_no_topic) {
  const auto checked = memory::topic("_reply.1").check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error(), errc::invalid_options);
}

} // namespace
} // namespace memory_test
