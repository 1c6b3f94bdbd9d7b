// One run of one side, or the server, for tools/bench: `bench_pubsub SIDE CASE ADDRESS MESSAGES [THREADS]`.
#include "sides.hpp"

#include <millrace/testing/pubsub.hpp>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>

namespace {

using bench::run_options;

/// Says where it is, and serves until standard input ends.
int serve(const run_options& /*options*/) {
  millrace::testing::fake_pubsub server;
  const auto name = [](const char* collection, const char* id) {
    return std::string("projects/") + bench::project + '/' + collection + '/' + id;
  };
  server.create_topic(name("topics", bench::plain_topic));
  server.create_topic(name("topics", bench::kept_topic));
  server.create_subscription({name("subscriptions", bench::kept_topic), name("topics", bench::kept_topic)});
  std::cout << server.address() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << server.waiting(name("subscriptions", bench::kept_topic)) << std::endl;
  return 0;
}

const std::map<std::string_view, std::function<int(const run_options&)>> runs{
    {"serve all", serve},
    {"fill consume", [](const auto& o) { return bench::bare::publish(o, bench::kept_topic); }},
    {"bare consume", bench::bare::consume},
    {"bare publish", [](const auto& o) { return bench::bare::publish(o, bench::plain_topic); }},
    {"millrace consume", bench::framework::consume},
    {"millrace publish", bench::framework::publish},
};

} // namespace

int main(int argc, char** argv) {
  const auto chosen = argc >= 5 ? runs.find(std::string(argv[1]) + ' ' + argv[2]) : runs.end();
  if (chosen == runs.end()) {
    std::cerr << "bench_pubsub SIDE CASE ADDRESS MESSAGES [THREADS], of these:\n";
    for (const auto& [name, run] : runs)
      std::cerr << "  " << name << '\n';
    return 2;
  }
  run_options options;
  options.address = argv[3];
  options.messages = std::strtoul(argv[4], nullptr, 10);
  if (argc > 5) options.threads = static_cast<unsigned>(std::strtoul(argv[5], nullptr, 10));
  return chosen->second(options);
}
