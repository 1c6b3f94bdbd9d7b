// The conformance suites on RabbitMQ, on a real server.
#include "conformance_kits.hpp"
#include "server/live_server.hpp"

namespace millrace::rabbitmq::testing {
namespace {

/// The address is asked for when a check runs: listing the tests starts no server.
const kit_maker& live() {
  static const kit_maker maker(run_mode::live, [] { return live_server::shared().url(); });
  return maker;
}

[[maybe_unused]] const bool registered = register_kits(live());

// By the same suites as in process.
TEST(rabbitmq_conformance, L1_L2_L3_L4_are_checked_on_a_server) {
  for (const auto& kit : live().all()) {
    for (const char* rule : {"L1", "L2", "L3", "L4"})
      EXPECT_TRUE(conformance::proves(*kit, rule)) << kit->name() << ' ' << rule;
  }
}

} // namespace
} // namespace millrace::rabbitmq::testing
