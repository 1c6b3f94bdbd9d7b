// One run of one side, or the server, for tools/bench.
#include "sides.hpp"

#include <millrace/testing/pubsub.hpp>

#include <iostream>

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

const bench::sides runs{
    {"serve all", serve},
    {"fill consume", [](const auto& o) { return bench::bare::publish(o, bench::kept_topic); }},
    {"bare consume", bench::bare::consume},
    {"bare publish", [](const auto& o) { return bench::bare::publish(o, bench::plain_topic); }},
    {"millrace consume", bench::framework::consume},
    {"millrace publish", bench::framework::publish},
};

} // namespace

int main(int argc, char** argv) { return bench::run_side(argc, argv, runs); }
