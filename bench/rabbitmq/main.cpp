// One run of one side, for tools/bench.
#include "meter.hpp"

#include <csignal>

namespace {

const bench::sides runs{
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
  return bench::run_side(argc, argv, runs);
}
