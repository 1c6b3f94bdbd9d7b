// One run of one side, for tools/bench: `bench_amqp SIDE CASE URL QUEUE MESSAGES`.
#include "sides.hpp"

#include <cstdlib>
#include <iostream>
#include <map>

namespace {

using bench::run_options;

const std::map<std::string_view, int (*)(const run_options&)> runs{
    {"bare consume", bench::bare::consume},
    {"bare publish", bench::bare::publish},
    {"bare request", bench::bare::request},
    {"engine consume", bench::engine::consume},
    {"millrace consume", bench::framework::consume},
    {"millrace publish", bench::framework::publish},
    {"millrace publish_one_at_a_time", bench::framework::publish_one_at_a_time},
    {"millrace request", bench::framework::request},
};

} // namespace

int main(int argc, char** argv) {
  const auto chosen = argc == 6 ? runs.find(std::string(argv[1]) + ' ' + argv[2]) : runs.end();
  if (chosen == runs.end()) {
    std::cerr << "bench_amqp SIDE CASE URL QUEUE MESSAGES, of these:\n";
    for (const auto& [name, run] : runs)
      std::cerr << "  " << name << '\n';
    return 2;
  }
  run_options options;
  options.url = argv[3];
  options.queue = argv[4];
  options.messages = std::strtoul(argv[5], nullptr, 10);
  return chosen->second(options);
}
