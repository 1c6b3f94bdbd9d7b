// What one message costs on the embedded broker: `bench_cost SCENARIO COUNT`, run under callgrind or DHAT by
// tools/bench.
//
// A production service with one handler thread. Its queue is filled while the handler is held in the first message;
// then the handler is let go, and callgrind counts until it has the last message. The pools are warm: a first round,
// longer than any that is measured, has gone through them.
#include "scenarios.hpp"

#include <millrace/event.hpp>

#include <cstdlib>
#include <iostream>

namespace {

using namespace bench_cost;

constexpr std::size_t warm_up = 4000;

void run_round(const scenario& s, const queue& to, std::size_t messages, bool measure) {
  current.begin(messages, measure && s.what == counted::draining);
  const bool whole = measure && s.what != counted::draining;
  if (whole) CALLGRIND_START_INSTRUMENTATION;
  millrace::sync_wait(s.fill(to, messages));
  if (whole) CALLGRIND_STOP_INSTRUMENTATION;
  if (s.what == counted::asking) return; // the handler was never held
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
  const auto& known = scenarios();
  const auto chosen = argc == 3 ? known.find(argv[1]) : known.end();
  if (chosen == known.end()) {
    std::cerr << "bench_cost SCENARIO COUNT, of these:\n";
    for (const auto& [name, s] : known)
      std::cerr << "  " << name << '\n';
    return 2;
  }
  return run(chosen->second, std::strtoul(argv[2], nullptr, 10));
}
