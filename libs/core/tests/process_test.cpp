// core 2.25, 2.26, 3.63: what a process that runs a service does with signals and with its command line, and how it
// exits.
#include "support.hpp"

#include <millrace/memory.hpp>

#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace core_test;

namespace {

/// A child process that runs `body` and exits with what it answers; it tells its parent things through a pipe.
class child {
 public:
  explicit child(const std::function<int(int tell)>& body) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      set_log_sink([](log_level, std::string_view) {});
      ::_exit(body(ends[1]));
    }
    ::close(ends[1]);
    read_end_ = ends[0];
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(read_end_);
  }
  /// The next thing it told; 0: it ended, or told nothing in time.
  char hear() const {
    pollfd p{read_end_, POLLIN, 0};
    char what = 0;
    if (::poll(&p, 1, 30'000) != 1 || ::read(read_end_, &what, 1) != 1) return 0;
    return what;
  }
  void signal(int number) const { ::kill(pid_, number); }
  /// Its exit code; 1000 and more: it was killed by that signal.
  int wait() {
    while (hear() != 0) {
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  int read_end_ = -1;
};

void tell(int to, char what) { static_cast<void>(!::write(to, &what, 1)); }

enum class handler_does { returns, blocks, throws };

/// A service that gets one message, tells 'h' from its handler and 's' when its shutdown hooks run.
int run_service(int to, handler_does what, duration bound = 30s) {
  service app{service_info{"child"}};
  app.threads(1).shutdown_timeout(bound);
  auto on = app.with_broker(memory::broker{});
  on.subscribe("orders", [=](bytes_view) {
    tell(to, 'h');
    if (what == handler_does::throws) throw std::runtime_error("boom");
    while (what == handler_does::blocks)
      ::pause(); // a signal wakes it: go on
  });
  auto pub = on.publisher();
  app.after_startup([pub]() -> task<result<void>> {
    auto sent = co_await pub.text("x").to("orders");
    if (!sent) co_return fail(std::move(sent).error());
    co_return result<void>{};
  });
  app.on_shutdown([to]() -> task<result<void>> {
    tell(to, 's');
    co_return result<void>{};
  });
  return app.run();
}

int run_main(std::vector<std::string> arguments, const std::function<void(service<>&)>& declare = {}) {
  service app{service_info{"orders", "1.2.3"}};
  if (declare) declare(app);
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), "orders");
  for (auto& a : arguments)
    argv.push_back(a.data());
  argv.push_back(nullptr);
  return app.main(static_cast<int>(argv.size()) - 1, argv.data());
}

struct signals : ::testing::TestWithParam<int> {};

} // namespace

// core 3.63
TEST_P(signals, the_first_drains_and_the_exit_code_is_0) {
  child c([](int to) { return run_service(to, handler_does::returns); });
  ASSERT_EQ(c.hear(), 'h');
  c.signal(GetParam());
  EXPECT_EQ(c.hear(), 's');
  EXPECT_EQ(c.wait(), 0);
}
TEST_P(signals, a_second_one_ends_the_process_at_once) {
  child c([](int to) { return run_service(to, handler_does::blocks); });
  ASSERT_EQ(c.hear(), 'h');
  c.signal(SIGTERM);
  ASSERT_EQ(c.hear(), 's'); // it is stopping, and its handler blocks
  c.signal(GetParam());
  EXPECT_EQ(c.wait(), 128 + GetParam());
}
INSTANTIATE_TEST_SUITE_P(process, signals, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& param) { return param.param == SIGINT ? "sigint" : "sigterm"; });

// core 3.38
TEST(process, a_blocked_handler_makes_the_exit_unclean_and_bounded) {
  child c([](int to) { return run_service(to, handler_does::blocks, 100ms); });
  ASSERT_EQ(c.hear(), 'h');
  c.signal(SIGTERM);
  EXPECT_EQ(c.wait(), 4);
}
// core 3.13
TEST(process, fail_fast_runs_the_shutdown_hooks_and_exits_3) {
  child c([](int to) { return run_service(to, handler_does::throws); });
  EXPECT_EQ(c.hear(), 'h');
  EXPECT_EQ(c.hear(), 's');
  EXPECT_EQ(c.wait(), 3);
}
TEST(process, a_start_that_fails_exits_1) {
  child c([](int) {
    service app{service_info{"child"}};
    auto on = app.with_broker(memory::broker{});
    on.subscribe(memory::topic("orders").from_start(), [](bytes_view) {}); // nothing is retained
    return app.run();
  });
  EXPECT_EQ(c.wait(), 1);
}
TEST(process, signals_are_the_processs_own_again_after_run) {
  child c([](int to) {
    run_main({"check"});
    service app{service_info{"child"}};
    app.after_startup([]() -> task<result<void>> {
      ::raise(SIGTERM);
      co_return result<void>{};
    });
    if (app.run() != 0) return 50;
    tell(to, 'r');
    ::raise(SIGTERM); // the default action again
    return 51;
  });
  ASSERT_EQ(c.hear(), 'r');
  EXPECT_EQ(c.wait(), 1000 + SIGTERM);
}

TEST(main, check_lists_the_subscriptions_and_does_not_connect) {
  ::testing::internal::CaptureStdout();
  const int code = run_main({"check"}, [](service<>& app) {
    app.on_startup([]() -> task<result<void>> { co_return fail(errc::handler, "must not run"); });
    app.with_broker("billing", memory::broker{}).subscribe("orders", [](bytes_view) {}).named("bill");
  });
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  for (const char* part : {"orders 1.2.3", "billing", "'bill'", "'orders'"})
    EXPECT_TRUE(out.contains(part)) << out;
}
TEST(main, check_says_why_the_service_would_not_start) {
  ::testing::internal::CaptureStderr();
  const int code = run_main({"check"}, [](service<>& app) {
    app.with_broker(memory::broker{}).subscribe("orders", [](bytes_view) {}).workers(0);
  });
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(text.contains("subscription 'orders': workers(0)")) << text;
}
TEST(main, a_bad_command_line_exits_2) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_main({"no-such-command"}), 2);
  EXPECT_EQ(run_main({"--no-such-option"}), 2);
  EXPECT_EQ(run_main({"check", "run"}), 2);
  EXPECT_FALSE(::testing::internal::GetCapturedStderr().empty());
}
TEST(main, help_and_version_exit_0) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run_main({"--help"}), 0);
  EXPECT_EQ(run_main({"--version"}), 0);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(out.contains("check") && out.contains("1.2.3")) << out;
}
