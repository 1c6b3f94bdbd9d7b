// One run of one side, for tools/bench: `bench_rabbitmq SIDE CASE URL MESSAGES [THREADS]`.
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
    {"bare publish.16", [](const auto& o) { return bench::bare::publish(o, 16); }},
    {"bare publish.1024", [](const auto& o) { return bench::bare::publish(o, 1024); }},
    {"bare confirms", bench::bare::confirms},
    {"bare consume.16", bench::bare::consume},
    {"millrace publish.16", [](const auto& o) { return bench::framework::publish(o, 16); }},
    {"millrace publish.1024", [](const auto& o) { return bench::framework::publish(o, 1024); }},
    {"millrace confirms", bench::framework::confirms},
    {"millrace consume.16", bench::framework::consume},
    {"millrace memory", bench::framework::memory},
    {"ready confirms", bench::bare::ready_bytes},
    {"fill queues", bench::bare::fill},
};

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto chosen = argc >= 5 ? runs.find(std::string(argv[1]) + ' ' + argv[2]) : runs.end();
  if (chosen == runs.end()) {
    std::cerr << "bench_rabbitmq SIDE CASE URL MESSAGES [THREADS], of these:\n";
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
