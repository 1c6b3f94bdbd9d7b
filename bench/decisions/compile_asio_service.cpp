// The same, and started: what a file with one handler costs whose dispatch is a template over asio::awaitable.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdint>

namespace asio = boost::asio;

asio::awaitable<std::uint64_t> handler(const std::uint64_t& n) {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(5));
  co_await timer.async_wait(asio::use_awaitable);
  co_return n;
}

int main() {
  asio::io_context context(1);
  const std::uint64_t message = 7;
  asio::co_spawn(context, handler(message), [](const std::exception_ptr&, std::uint64_t) {});
  context.run();
}
