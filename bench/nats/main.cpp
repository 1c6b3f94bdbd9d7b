// One run of one side, for tools/bench: `bench_nats SIDE CASE URL MESSAGES [THREADS]`.
#include "meter.hpp"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string_view>

namespace {

using bench::run_options;

const std::map<std::string_view, std::function<int(const run_options&)>> runs{
    {"bare consume.16", [](const auto& o) { return bench::bare::consume(o, false); }},
    {"bare consume.json512", [](const auto& o) { return bench::bare::consume(o, true); }},
    {"bare publish.16", bench::bare::publish},
    {"bare jetstream.pull", bench::bare::pull},
    {"millrace consume.16", [](const auto& o) { return bench::framework::consume(o, false); }},
    {"millrace consume.json512", [](const auto& o) { return bench::framework::consume(o, true); }},
    {"millrace publish.16", bench::framework::publish},
    {"millrace jetstream.pull", bench::framework::pull},
    {"millrace lifecycle", bench::framework::lifecycle},
    {"feed consume.16", [](const auto& o) { return bench::feed(o, false); }},
    {"feed consume.json512", [](const auto& o) { return bench::feed(o, true); }},
    {"fill jetstream.pull", bench::fill_stream},
};

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto chosen = argc >= 5 ? runs.find(std::string(argv[1]) + ' ' + argv[2]) : runs.end();
  if (chosen == runs.end()) {
    std::cerr << "bench_nats SIDE CASE URL MESSAGES [THREADS], of these:\n";
    for (const auto& [name, run] : runs)
      std::cerr << "  " << name << '\n';
    return 2;
  }
  run_options options;
  options.url = argv[3];
  options.messages = std::strtoul(argv[4], nullptr, 10);
  if (argc > 5) options.threads = static_cast<unsigned>(std::strtoul(argv[5], nullptr, 10));
  return chosen->second(options);
}
