// The coroutine type of handlers: our task against asio::awaitable. `bench_decision_coroutines TYPE SHAPE COUNT`, under
// callgrind; run.py beside this does it. A "call" is what dispatch does for one message: start the handler's coroutine,
// learn that it ended, take its value.
#include <millrace/event.hpp>
#include <millrace/task.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <valgrind/callgrind.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

namespace asio = boost::asio;

std::uint64_t sum = 0;

millrace::task<std::uint64_t> own_plain(std::uint64_t n) { co_return n; }
millrace::task<std::uint64_t> own_nested(std::uint64_t n) { co_return co_await own_plain(n); }

asio::awaitable<std::uint64_t> asio_plain(std::uint64_t n) { co_return n; }
asio::awaitable<std::uint64_t> asio_nested(std::uint64_t n) { co_return co_await asio_plain(n); }

struct told : millrace::completion {
  told() noexcept : completion([](completion& c) noexcept { static_cast<told&>(c).ended = true; }) {}
  bool ended = false;
};

/// Dispatch starts each handler itself.
template <auto Handler> void own(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    told end;
    auto running = Handler(i);
    running.start(end);
    if (!end.ended) std::abort();
    sum += running.take();
  }
}

/// Each call a coroutine of its own on the executor, as a dispatch that is no coroutine must.
template <auto Handler> void spawned(std::uint64_t count) {
  asio::io_context context(1);
  for (std::uint64_t i = 0; i < count; ++i) {
    asio::co_spawn(context, Handler(i), [](const std::exception_ptr&, std::uint64_t n) { sum += n; });
    context.poll();
    context.restart();
  }
}

/// The dispatch loop is a coroutine and awaits its handler: the cheapest way there is with asio::awaitable.
template <auto Handler> asio::awaitable<void> loop(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    sum += co_await Handler(i);
}
template <auto Handler> void awaited(std::uint64_t count) {
  asio::io_context context(1);
  asio::co_spawn(context, loop<Handler>(count), [](const std::exception_ptr&) {});
  context.run();
}

void run(std::string_view type, bool nested, std::uint64_t count) {
  if (type == "task") return nested ? own<own_nested>(count) : own<own_plain>(count);
  if (type == "asio-spawned") return nested ? spawned<asio_nested>(count) : spawned<asio_plain>(count);
  if (type == "asio-awaited") return nested ? awaited<asio_nested>(count) : awaited<asio_plain>(count);
  std::abort();
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const bool nested = std::string_view(argv[2]) == "nested";
  run(argv[1], nested, 100);
  CALLGRIND_START_INSTRUMENTATION;
  run(argv[1], nested, std::strtoull(argv[3], nullptr, 10));
  CALLGRIND_STOP_INSTRUMENTATION;
  return sum > 0 ? 0 : 1;
}
