// One run of a service, driven by hand: what a harness relies on.
#include <millrace/memory.hpp>
#include <millrace/service.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using millrace::connect_mode;
using millrace::errc;
using millrace::result;
using millrace::task;
using millrace::testing::virtual_runtime;

class destinations final : public millrace::observer {
 public:
  void handled(const millrace::handled_event& /*event*/) noexcept override {}
  void published(const millrace::published_event& event) noexcept override { seen.emplace_back(event.destination); }
  std::vector<std::string> seen;
};

task<result<millrace::receipt>> send(millrace::publisher<millrace::memory::publish> to) {
  auto sent = co_await to.text("x").to("orders");
  co_return sent;
}

task<result<millrace::reply_message>> ask(millrace::publisher<millrace::memory::publish> to) {
  auto answer = co_await to.text("x").to("orders").request(std::chrono::seconds(1));
  co_return answer;
}

// A broker is consumed by its connect: a second run of the same service dereferenced nothing.
TEST(service_run, a_service_runs_once) {
  millrace::service app{{.title = "once"}};
  static_cast<void>(app.with_broker(millrace::memory::broker{}));
  virtual_runtime rt;
  millrace::service_run first(app.core(), rt);
  ASSERT_TRUE(rt.drive(first.start(connect_mode::in_process)));
  ASSERT_TRUE(rt.drive(first.shutdown()));

  millrace::service_run second(app.core(), rt);
  const auto again = rt.drive(second.start(connect_mode::in_process));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), errc::invalid_options);
  EXPECT_NE(again.error().message().find("runs once"), std::string::npos) << again.error().message();
}

// L4: a publisher may outlive the run and its observer.
TEST(service_run, a_publisher_forgets_the_observer_of_a_run_that_is_gone) {
  millrace::service app{{.title = "observed"}};
  auto on = app.with_broker(millrace::memory::broker{});
  auto orders = on.publisher();
  virtual_runtime rt;
  {
    destinations watcher;
    millrace::service_run run(app.core(), rt, &watcher);
    ASSERT_TRUE(rt.drive(run.start(connect_mode::in_process)));
    ASSERT_TRUE(rt.drive(send(orders)));
    EXPECT_EQ(watcher.seen, std::vector<std::string>{"orders"});
    ASSERT_TRUE(rt.drive(run.shutdown()));
  }
  const auto late = rt.drive(send(orders));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), errc::closed);
}

TEST(service_run, the_observer_is_told_of_requests) {
  millrace::service app{{.title = "asked"}};
  auto on = app.with_broker(millrace::memory::broker{});
  auto orders = on.publisher();
  virtual_runtime rt;
  destinations watcher;
  millrace::service_run run(app.core(), rt, &watcher);
  ASSERT_TRUE(rt.drive(run.start(connect_mode::in_process)));
  const auto answer = rt.drive(ask(orders));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), errc::publish);
  EXPECT_EQ(watcher.seen, std::vector<std::string>{"orders"});
  ASSERT_TRUE(rt.drive(run.shutdown()));
}

} // namespace
