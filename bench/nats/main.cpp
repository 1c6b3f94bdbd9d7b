// One run of one side, for tools/bench.
#include "meter.hpp"

#include <csignal>

namespace {

const bench::sides runs{
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
  return bench::run_side(argc, argv, runs);
}
