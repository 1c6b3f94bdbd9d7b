#include "delivery_types.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <span>
#include <stdexcept>

using namespace delivery;

namespace {

/// Writes down when it is passed.
class tracing final : public millrace::interceptor {
 public:
  tracing(std::string name, log_lines log) : name_(std::move(name)), log_(std::move(log)) {}
  std::optional<millrace::outcome> before(millrace::context&) override {
    log_->push_back(name_ + ">");
    return std::nullopt;
  }
  void after(millrace::context&, millrace::outcome&) override { log_->push_back("<" + name_); }
  void failed(millrace::context&, std::string_view what) override {
    log_->push_back("!" + name_ + " " + std::string(what));
  }

 private:
  std::string name_;
  log_lines log_;
};

class refusing final : public millrace::interceptor {
 public:
  std::optional<millrace::outcome> before(millrace::context& ctx) override {
    if (ctx.headers().contains("stop")) return millrace::drop();
    return std::nullopt;
  }
};

/// Waits before it calls on.
class waiting final : public millrace::middleware {
 public:
  explicit waiting(log_lines log) : log_(std::move(log)) {}
  millrace::task<millrace::outcome> around(millrace::context& ctx, millrace::next_handler next) override {
    log_->push_back("wait>");
    co_await ctx.sleep_for(5s);
    millrace::outcome answer = co_await next();
    log_->push_back("<wait");
    co_return answer;
  }

 private:
  log_lines log_;
};

class retrying_drops final : public millrace::middleware {
 public:
  millrace::task<millrace::outcome> around(millrace::context&, millrace::next_handler next) override {
    millrace::outcome answer = co_await next();
    if (answer.kind() == millrace::settlement_kind::drop) co_return millrace::retry_after(1s);
    co_return answer;
  }
};

} // namespace

// core 2.23: the first added is outermost, and the service's wraps the scope's wraps the registration's
TEST(Middleware, service_scope_and_registration_wrap_in_this_order) {
  orders_service s;
  auto log = make_log();
  s.app.use(tracing("a", log)).use(tracing("b", log));
  s.on.use(tracing("scope", log));
  s.on.subscribe("orders", [log](const order&) { log->push_back("handler"); }).use(tracing("own", log));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  EXPECT_EQ(*log, (std::vector<std::string>{"a>", "b>", "scope>", "own>", "handler", "<own", "<scope", "<b", "<a"}));
}

TEST(Middleware, a_short_circuit_settles_and_skips_the_handler) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", [log](const order&) { log->push_back("handler"); }).use(tracing("t", log)).use(refusing());
  test_service t(s.app);
  millrace::header_map stop;
  stop.set("stop", "1");
  t.publish("orders", order{1, "tea"}, stop);
  EXPECT_EQ(*log, (std::vector<std::string>{"t>", "<t"}));
  t.subscription("orders").settled(millrace::drop());
}

TEST(Middleware, an_exception_passes_outwards_and_meets_the_policy) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", [](const order&) { throw std::runtime_error("broken"); })
      .use(tracing("t", log))
      .on_exception(millrace::failure_policy::skip());
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  EXPECT_EQ(*log, (std::vector<std::string>{"t>", "!t broken"}));
  t.subscription("orders").called_once().settled(millrace::ack());
}

TEST(Middleware, sees_what_does_not_decode) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", [](const order&) {}).use(tracing("t", log));
  test_service t(s.app);
  t.publish_text("orders", "{}");
  ASSERT_EQ(log->size(), 2U);
  EXPECT_NE(log->back().find("id"), std::string::npos) << log->back();
}

TEST(Middleware, a_coroutine_waits_and_calls_on) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", [log](const order&) { log->push_back("handler"); }).use(tracing("t", log)).use(waiting(log));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  EXPECT_EQ(*log, (std::vector<std::string>{"t>", "wait>"}));
  t.advance(5s);
  EXPECT_EQ(*log, (std::vector<std::string>{"t>", "wait>", "handler", "<wait", "<t"}));
  t.subscription("orders").settled(millrace::ack());
}

TEST(Middleware, a_coroutine_changes_the_answer) {
  orders_service s;
  s.on.subscribe(
          "orders",
          [](const order&, millrace::context& ctx) { return ctx.attempt() == 1 ? millrace::drop() : millrace::ack(); })
      .use(retrying_drops());
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.subscription("orders").called_once().settled(millrace::retry_after(1s));
  t.advance(1s);
  t.subscription("orders").called(2).settled(millrace::ack());
}

TEST(Middleware, wraps_a_coroutine_handler_and_its_failures) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders",
                 [](const order& o, millrace::context& ctx) -> millrace::task<void> {
                   co_await ctx.sleep_for(1s);
                   if (o.id == 2) throw std::runtime_error("two");
                 })
      .use(tracing("t", log))
      .use(waiting(log))
      .on_exception(millrace::failure_policy::drop());
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.publish("orders", order{2, "tea"});
  t.advance(20s);
  EXPECT_EQ(*log, (std::vector<std::string>{"t>", "wait>", "<wait", "<t", "t>", "wait>", "!t two"}));
  t.subscription("orders").called(2).settled(millrace::drop());
}

// core 3.35: batches are wrapped too
TEST(Middleware, wraps_a_batch_once) {
  orders_service s;
  auto log = make_log();
  s.app.use(tracing("t", log));
  s.on.subscribe_batches("orders", 2,
                         [log](std::span<const order> o) { log->push_back("batch of " + std::to_string(o.size())); })
      .batch_wait(10ms);
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  t.publish("orders", order{2, "tea"});
  EXPECT_EQ(*log, (std::vector<std::string>{"t>", "batch of 2", "<t"}));
}

TEST(Middleware, a_static_chain_is_one_link_in_the_same_order) {
  orders_service s;
  auto log = make_log();
  s.on.subscribe("orders", [log](const order&) { log->push_back("handler"); })
      .use(millrace::static_chain(tracing("a", log), tracing("b", log)));
  test_service t(s.app);
  t.publish("orders", order{1, "tea"});
  EXPECT_EQ(*log, (std::vector<std::string>{"a>", "b>", "handler", "<b", "<a"}));
}

TEST(Middleware, a_reply_is_not_sent_when_the_answer_became_a_retry) {
  orders_service s;
  s.on.subscribe("orders", [](const order& o) { return o; }).reply("copies").use(refusing()).use(retrying_drops());
  test_service t(s.app);
  millrace::header_map stop;
  stop.set("stop", "1");
  t.publish("orders", order{1, "tea"}, stop);
  t.published("copies").none();
}

/// Notes how many messages each call has.
class sizes final : public millrace::interceptor {
 public:
  explicit sizes(std::shared_ptr<std::vector<std::size_t>> to) : to_(std::move(to)) {}
  std::optional<millrace::outcome> before(millrace::context& ctx) override {
    to_->push_back(ctx.batch_size());
    return std::nullopt;
  }

 private:
  std::shared_ptr<std::vector<std::size_t>> to_;
};

TEST(Middleware, knows_a_batch_by_its_size) {
  orders_service s;
  auto seen = std::make_shared<std::vector<std::size_t>>();
  s.app.use(sizes(seen));
  s.on.subscribe_batches("many", 2, [](std::span<const order>) {}).batch_wait(1s);
  s.on.subscribe("one", [](const order&) {});
  test_service t(s.app);
  t.publish("one", order{1, "tea"});
  for (int i = 1; i <= 3; ++i)
    t.publish("many", order{i, "tea"});
  t.advance(1s);
  EXPECT_EQ(*seen, (std::vector<std::size_t>{0, 2, 1}));
}
