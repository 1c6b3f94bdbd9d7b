// What one message costs on the embedded broker: `bench_cost SCENARIO COUNT`, run under callgrind or DHAT by
// tools/bench.
//
// A production service with one handler thread. Its queue is filled while the handler is held in the first message;
// then the handler is let go, and callgrind counts until it has the last message. The pools are warm: a first round,
// longer than any that is measured, has gone through them.
#include <millrace/event.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <valgrind/callgrind.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <semaphore>
#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;

struct order {
  std::uint64_t id = 0;
  std::string item;
  int quantity = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item, quantity))

constexpr std::string_view document = R"({"id":12345,"item":"keyboard","quantity":3})";
constexpr std::size_t warm_up = 4000;

/// One round of messages through the handler.
class round {
 public:
  void begin(std::size_t messages) noexcept { left_ = total_ = messages; }
  void open() noexcept { gate_.release(); }
  void wait() noexcept { over_.acquire(); }
  /// In the handler.
  void message() noexcept {
    if (left_ == total_) [[unlikely]] {
      gate_.acquire();
      if (measured) CALLGRIND_START_INSTRUMENTATION;
    }
    if (--left_ == 0) [[unlikely]] {
      if (measured) CALLGRIND_STOP_INSTRUMENTATION;
      over_.release();
    }
  }
  bool measured = false;

 private:
  std::size_t total_ = 0;
  std::size_t left_ = 0;
  std::binary_semaphore gate_{0};
  std::binary_semaphore over_{0};
};

round current;
std::uint64_t sum = 0; ///< what the handlers read, so that it must be read

millrace::outcome on_raw(millrace::bytes_view payload) {
  sum += payload.size();
  current.message();
  return millrace::ack();
}
millrace::outcome on_json(const order& o) {
  sum += o.id + o.item.size() + static_cast<std::uint64_t>(o.quantity);
  current.message();
  return millrace::ack();
}
millrace::task<millrace::outcome> on_coroutine(millrace::bytes_view payload) {
  sum += payload.size();
  current.message();
  co_return millrace::ack();
}
millrace::task<std::uint64_t> nested(millrace::bytes_view payload) { co_return payload.size(); }
millrace::task<millrace::outcome> on_nested(millrace::bytes_view payload) {
  sum += co_await nested(payload);
  current.message();
  co_return millrace::ack();
}
order on_reply(const order& o) {
  sum += o.id;
  current.message();
  return {o.id, o.item, o.quantity + 1};
}

using queue = millrace::publisher<millrace::memory::publish>;

millrace::task<void> fill(queue to, std::size_t messages) {
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.text(document).to("orders");
    if (!sent) std::abort();
  }
}
millrace::task<void> fill_json(queue to, std::size_t messages) {
  const order o{12345, "keyboard", 3};
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.publish("orders", o);
    if (!sent) std::abort();
  }
}

struct scenario {
  void (*subscribe)(millrace::scope<millrace::memory::broker, void>& on);
  bool of_publish = false; ///< counts the filling instead of the draining
  millrace::task<void> (*fill)(queue, std::size_t) = &::fill;
};

template <auto Handler> void with(millrace::scope<millrace::memory::broker, void>& on) {
  on.subscribe("orders", Handler);
}

const std::map<std::string_view, scenario> scenarios{
    {"consume.raw"sv, {with<on_raw>}},
    {"consume.json"sv, {with<on_json>}},
    {"consume.coroutine"sv, {with<on_coroutine>}},
    {"consume.coroutine_nested"sv, {with<on_nested>}},
    {"consume.reply"sv, {[](auto& on) { on.subscribe("orders", on_reply).reply("answers"); }}},
    {"consume.workers4"sv, {[](auto& on) { on.subscribe("orders", on_raw).workers(4); }}},
    {"publish.raw"sv, {with<on_raw>, true}},
    {"publish.json"sv, {with<on_raw>, true, fill_json}},
};

void run_round(const scenario& s, const queue& to, std::size_t messages, bool measured) {
  current.begin(messages);
  current.measured = measured && !s.of_publish;
  if (measured && s.of_publish) CALLGRIND_START_INSTRUMENTATION;
  millrace::sync_wait(s.fill(to, messages));
  if (measured && s.of_publish) CALLGRIND_STOP_INSTRUMENTATION;
  current.open();
  current.wait();
}

int run(const scenario& s, std::size_t messages) {
  millrace::service app{{.title = "bench"}};
  app.threads(1);
  auto on = app.with_broker(millrace::memory::broker{});
  s.subscribe(on);
  const queue to = on.publisher();
  auto started = app.start();
  if (!started) return EXIT_FAILURE;
  run_round(s, to, warm_up, false);
  run_round(s, to, messages, true);
  // Not through the shutdown: how many blocks that takes depends on which thread is first.
  std::_Exit(sum > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

} // namespace

int main(int argc, char** argv) {
  const auto chosen = argc == 3 ? scenarios.find(argv[1]) : scenarios.end();
  if (chosen == scenarios.end()) {
    std::cerr << "bench_cost SCENARIO COUNT, of these:\n";
    for (const auto& [name, s] : scenarios)
      std::cerr << "  " << name << '\n';
    return 2;
  }
  return run(chosen->second, std::strtoul(argv[2], nullptr, 10));
}
