#include "delivery_types.hpp"

#include <millrace/event.hpp>
#include <millrace/resilience/deduplicate.hpp>
#include <millrace/resilience/timeout.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

using namespace delivery;
using millrace::testing::headers;
using namespace millrace::resilience;

namespace {

constexpr auto header = "message-id";

std::shared_ptr<memory_idempotency_store> memory_store(memory_store_options options = {}) {
  return std::make_shared<memory_idempotency_store>(options);
}

/// A store that fails at what it is told to.
class failing_store final : public idempotency_store {
 public:
  bool fails_to_claim = false;
  millrace::task<millrace::result<claim>> try_claim(std::string_view, millrace::time_point) override {
    if (fails_to_claim) co_return millrace::fail(millrace::errc::timeout, "the store");
    co_return claim{};
  }
  millrace::task<millrace::result<void>> complete(std::string_view, millrace::time_point) override {
    co_return millrace::fail(millrace::errc::timeout, "the store");
  }
  millrace::task<millrace::result<void>> forget(std::string_view, std::uint64_t) override {
    co_return millrace::fail(millrace::errc::timeout, "the store");
  }
};

} // namespace

TEST(Deduplicate, acknowledges_an_id_that_is_done_without_a_call) {
  orders_service s;
  int calls = 0;
  s.on.subscribe("orders", [&](const order&) { ++calls; }).use(deduplicate(memory_store()));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.subscription("orders").settled(millrace::ack());
  EXPECT_EQ(calls, 1);
  t.publish("orders", order{1, "tea"}, headers({{header, "b"}}));
  EXPECT_EQ(calls, 2);
}

TEST(Deduplicate, handles_messages_without_an_id_each_time) {
  orders_service s;
  int calls = 0;
  auto store = memory_store();
  s.on.subscribe("orders", [&](const order&) { ++calls; }).use(deduplicate(store));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.publish("orders", order{1, "tea"}, headers({{header, ""}}));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(store->size(), 0U);
}

TEST(Deduplicate, an_id_in_progress_comes_again_later) {
  orders_service s;
  int calls = 0;
  s.on.subscribe("orders",
                 [&](const order&, millrace::context& ctx) -> millrace::task<void> {
                   ++calls;
                   co_await ctx.sleep_for(10s);
                 })
      .use(deduplicate(memory_store()).retry_in(4s))
      .workers(2);
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.subscription("orders").settled(millrace::retry_after(4s));
  t.advance(12s);
  t.subscription("orders").settled(millrace::ack());
  EXPECT_EQ(calls, 1);
}

TEST(Deduplicate, only_an_ack_is_an_effect) {
  orders_service s;
  int calls = 0;
  auto store = memory_store();
  s.on.subscribe("orders",
                 [&](const order&) -> millrace::outcome {
                   switch (++calls) {
                   case 1:
                     return millrace::retry_after(1s);
                   case 2:
                     throw std::runtime_error("broken");
                   case 3:
                     return millrace::drop();
                   default:
                     return millrace::ack();
                   }
                 })
      .use(deduplicate(store))
      .on_exception(millrace::failure_policy::retry_after(1s));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  EXPECT_EQ(store->size(), 0U);
  t.advance(1s);
  t.subscription("orders").settled(millrace::retry_after(1s));
  EXPECT_EQ(store->size(), 0U);
  t.advance(1s);
  t.subscription("orders").settled(millrace::drop());
  EXPECT_EQ(store->size(), 0U);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(store->size(), 1U);
}

TEST(Deduplicate, marks_before_the_settlement) {
  orders_service s;
  auto store = memory_store();
  std::size_t known = 0;
  s.on.subscribe("orders", [&](const order& o) { return o; })
      .reply("copies",
             [&](millrace::publish_draft&) -> millrace::result<void> {
               known = store->size();
               return {};
             })
      .use(deduplicate(store));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.published("copies").once();
  EXPECT_EQ(known, 1U); // the reply, which precedes the settlement, came after the mark
}

TEST(Deduplicate, registrations_count_apart_unless_they_share_a_scope) {
  orders_service s;
  auto store = memory_store();
  auto log = make_log();
  const auto noting = [log](const char* who) { return [log, who](const order&) { log->push_back(who); }; };
  s.on.subscribe("orders", noting("bill")).named("bill").use(deduplicate(store));
  s.on.subscribe("orders", noting("audit")).named("audit").use(deduplicate(store));
  s.on.subscribe("first", noting("first")).use(deduplicate(store).scope("both"));
  s.on.subscribe("second", noting("second")).use(deduplicate(store).scope("both"));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  EXPECT_EQ(log->size(), 2U);
  t.publish("first", order{1, "tea"}, headers({{header, "a"}}));
  t.publish("second", order{1, "tea"}, headers({{header, "a"}}));
  EXPECT_EQ(log->back(), "first");
}

TEST(Deduplicate, inside_a_timeout_a_late_effect_is_not_repeated) {
  orders_service s;
  int effects = 0;
  s.on.subscribe("orders",
                 [&](const order&, millrace::context& ctx) -> millrace::task<void> {
                   co_await ctx.sleep_for(6s);
                   ++effects;
                 })
      .use(timeout(5s))
      .use(deduplicate(memory_store()));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.advance(1min);
  t.subscription("orders").called(2).settled(millrace::ack());
  EXPECT_EQ(effects, 1);
}

TEST(Deduplicate, a_stop_that_gives_a_wait_up_gives_the_claim_back) {
  orders_service s;
  auto store = memory_store();
  s.on.subscribe("orders",
                 [](const order&, millrace::context& ctx) -> millrace::task<void> { co_await ctx.sleep_for(24h); })
      .use(deduplicate(store));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  EXPECT_EQ(store->size(), 1U);
  static_cast<void>(t.shutdown());
  t.subscription("orders").left_unsettled();
  EXPECT_EQ(store->size(), 0U);
}

TEST(Deduplicate, takes_the_id_from_where_it_is_told) {
  orders_service s;
  int calls = 0;
  s.on.subscribe("orders", [&](const order&) { ++calls; })
      .use(deduplicate(memory_store()).id_from([](const millrace::context& ctx) {
        return std::string(millrace::as_text(ctx.payload()));
      }));
  s.on.subscribe("others", [&](const order&) { ++calls; })
      .use(deduplicate(memory_store()).id_from_header("Nats-Msg-Id"));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.publish("orders", order{1, "tea"});
  EXPECT_EQ(calls, 1);
  t.publish("others", order{1, "tea"}, headers({{"nats-msg-id", "a"}}));
  t.publish("others", order{1, "tea"}, headers({{"nats-msg-id", "a"}}));
  EXPECT_EQ(calls, 2);
}

TEST(Deduplicate, a_store_that_fails_to_claim_calls_no_handler) {
  orders_service s;
  auto store = std::make_shared<failing_store>();
  store->fails_to_claim = true;
  s.on.subscribe("orders", [](const order&) {}).use(deduplicate(store));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.subscription("orders").settled(millrace::retry_after(1s));
}

TEST(Deduplicate, a_store_that_fails_to_mark_changes_no_answer) {
  orders_service s;
  s.on.subscribe("orders", [](const order& o) { return o.id == 1 ? millrace::ack() : millrace::drop(); })
      .use(deduplicate(std::make_shared<failing_store>()));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.subscription("orders").settled(millrace::ack());
  t.publish("orders", order{2, "tea"}, headers({{header, "b"}}));
  t.subscription("orders").settled(millrace::drop());
}

TEST(MemoryStore, forgets_what_is_done_after_its_time) {
  orders_service s;
  int calls = 0;
  auto store = memory_store(memory_store_options().ttl(1min));
  s.on.subscribe("orders", [&](const order&) { ++calls; }).use(deduplicate(store));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  t.advance(59s);
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  EXPECT_EQ(calls, 1);
  t.advance(1s); // a duplicate does not lengthen it
  t.publish("orders", order{1, "tea"}, headers({{header, "a"}}));
  EXPECT_EQ(calls, 2);
}

TEST(MemoryStore, forgets_the_oldest_when_it_is_full) {
  auto store = memory_store(memory_store_options().capacity(2));
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", [log](const order& o) { log->push_back(o.item); }).use(deduplicate(store));
  test_service t(s.app);
  for (const char* id : {"a", "b", "c", "b", "c", "a"})
    t.publish("orders", order{1, id}, headers({{header, id}}));
  EXPECT_EQ(*log, (std::vector<std::string>{"a", "b", "c", "a"}));
  EXPECT_EQ(store->size(), 2U);
}

TEST(MemoryStore, refuses_one_more_claim_than_it_holds) {
  auto store = memory_store(memory_store_options().capacity(1).lease(1min));
  const millrace::time_point start{};
  auto first = millrace::sync_wait(store->try_claim("a", start));
  ASSERT_TRUE(first);
  auto second = millrace::sync_wait(store->try_claim("b", start));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), millrace::errc::queue_full);
  auto lapsed = millrace::sync_wait(store->try_claim("b", start + 1min));
  ASSERT_TRUE(lapsed);
  EXPECT_EQ(lapsed->state, claim_state::fresh);
}

TEST(MemoryStore, a_claim_lapses_and_its_old_ticket_forgets_nothing) {
  auto store = memory_store(memory_store_options().lease(1min));
  const millrace::time_point start{};
  const auto first = millrace::sync_wait(store->try_claim("a", start));
  EXPECT_EQ(millrace::sync_wait(store->try_claim("a", start + 59s))->state, claim_state::in_progress);
  const auto second = millrace::sync_wait(store->try_claim("a", start + 1min));
  EXPECT_EQ(second->state, claim_state::fresh);
  EXPECT_TRUE(millrace::sync_wait(store->forget("a", first->ticket)));
  EXPECT_EQ(millrace::sync_wait(store->try_claim("a", start + 1min))->state, claim_state::in_progress);
  EXPECT_TRUE(millrace::sync_wait(store->complete("a", start + 1min))); // the slow one: its effect took place
  EXPECT_TRUE(millrace::sync_wait(store->forget("a", second->ticket)));
  EXPECT_EQ(millrace::sync_wait(store->try_claim("a", start + 2min))->state, claim_state::done);
}

TEST(MemoryStore, of_many_that_claim_at_once_one_has_it) {
  auto store = memory_store(memory_store_options().capacity(50));
  std::atomic<int> fresh = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const std::string id = std::to_string(i);
        const auto c = millrace::sync_wait(store->try_claim(id, {}));
        if (!c || c->state != claim_state::fresh) continue;
        ++fresh;
        static_cast<void>(millrace::sync_wait(store->complete(id, {})));
      }
    });
  }
  for (auto& t : threads)
    t.join();
  EXPECT_EQ(fresh, 50);
}

TEST(Deduplicate, refuses_a_batch_handler_before_any_io_and_names_it) {
  for (const bool of_the_service : {false, true}) {
    orders_service s;
    auto& batches = s.on.subscribe_batches("orders", 10, [](std::span<const order>) {});
    if (of_the_service)
      s.app.use(deduplicate(memory_store()));
    else
      batches.use(deduplicate(memory_store()));
    const auto checked = s.app.core()->check();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error(), millrace::errc::invalid_options);
    EXPECT_TRUE(checked.error().message().contains("subscription 'orders' takes batches: deduplicate"))
        << checked.error().message();
  }
}
