// The conformance suites on RabbitMQ, in process on the virtual clock.
#include "conformance_kits.hpp"

namespace millrace::rabbitmq::testing {
namespace {

const kit_maker& in_process() {
  static const kit_maker maker(run_mode::in_process, [] { return "amqp://guest:guest@127.0.0.1:5672"; });
  return maker;
}

[[maybe_unused]] const bool registered = register_kits(in_process());

// By the same suites as on a server.
TEST(rabbitmq_conformance, L1_L2_L3_L4_are_checked_in_process) {
  for (const auto& kit : in_process().all()) {
    for (const char* rule : {"L1", "L2", "L3", "L4"})
      EXPECT_TRUE(conformance::proves(*kit, rule)) << kit->name() << ' ' << rule;
  }
}

} // namespace
} // namespace millrace::rabbitmq::testing
