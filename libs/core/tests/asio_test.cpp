#include <millrace/asio.hpp>
#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>
#include <millrace/task.hpp>

#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/writable_pipe.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace asio = boost::asio;

namespace {

/// An io_context on a thread of its own, as a user would have it.
struct asio_thread {
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::thread thread{[this] { context.run(); }};
  ~asio_thread() {
    work.reset();
    thread.join();
  }
};

millrace::task<std::string> echo(asio::io_context& context, millrace::runtime& rt) {
  asio::readable_pipe in(context);
  asio::writable_pipe out(context);
  asio::connect_pipe(in, out);
  const std::string sent = "hello";
  auto [write_error, written] = co_await asio::async_write(out, asio::buffer(sent), millrace::use_runtime(rt));
  std::string got(written, '\0');
  auto [read_error, read] = co_await asio::async_read(in, asio::buffer(got), millrace::use_runtime(rt));
  got.resize(read);
  co_return write_error || read_error ? std::string("failed") : got;
}

millrace::task<bool> timer_resumes_on_the_pool(asio::io_context& context, millrace::runtime& rt, std::thread::id io) {
  asio::steady_timer timer(context, std::chrono::milliseconds(1));
  auto [error] = co_await timer.async_wait(millrace::use_runtime(rt));
  co_return !error && std::this_thread::get_id() != io;
}

/// Nobody calls it any more after a job was posted that ends outside work.
class last_call_runtime final : public millrace::runtime {
 public:
  void post(millrace::job& work) noexcept override { posted_ = &work; }
  [[nodiscard]] millrace::time_point now() const noexcept override { return {}; }
  void arm(millrace::timer& /*wake*/, millrace::time_point /*due*/) noexcept override {}
  bool disarm(millrace::timer& /*wake*/) noexcept override { return true; }
  void cancel_waits() noexcept override {}
  void external_begin() noexcept override { posted_ = nullptr; }
  void external_end() noexcept override { EXPECT_EQ(posted_, nullptr) << "the runtime may be gone"; }

  bool run() noexcept {
    if (posted_ != nullptr) posted_->run();
    return posted_ != nullptr;
  }

 private:
  millrace::job* posted_ = nullptr;
};

millrace::task<void> wait_for(asio::steady_timer& timer, millrace::runtime& rt, bool& woken) {
  auto [error] = co_await timer.async_wait(millrace::use_runtime(rt));
  woken = !error;
}

struct ignored : millrace::completion {
  ignored() noexcept : completion([](completion& /*self*/) noexcept {}) {}
};

} // namespace

TEST(Asio, what_an_operation_wakes_may_destroy_the_runtime) {
  last_call_runtime rt;
  asio::io_context context;
  asio::steady_timer timer(context, std::chrono::milliseconds(1));
  bool woken = false;
  ignored end;
  auto waiting = wait_for(timer, rt, woken);
  waiting.start(end);
  context.run();
  EXPECT_TRUE(rt.run());
  EXPECT_TRUE(woken);
}

TEST(Asio, a_handler_awaits_reads_and_writes) {
  millrace::pool_runtime rt(1); // outlives the threads that resume on it
  asio_thread io;
  EXPECT_EQ(millrace::sync_wait(echo(io.context, rt)), "hello");
}

TEST(Asio, a_handler_resumes_on_the_runtime_and_not_on_the_io_thread) {
  millrace::pool_runtime rt(1); // outlives the threads that resume on it
  asio_thread io;
  EXPECT_TRUE(millrace::sync_wait(timer_resumes_on_the_pool(io.context, rt, io.thread.get_id())));
}
