// The conformance suites in process, on the virtual clock.
#include <millrace/amqp.hpp>
#include <millrace/testing/conformance_gtest.hpp>

namespace millrace::amqp {
namespace {

namespace conformance = millrace::testing::conformance;

conformance::kit_ptr queue_kit() {
  return conformance::kit_of<broker, queue>({
      .name = "amqp_queue",
      .can = {.settles = true,
              .requeues = true,
              .counts_deliveries = true,
              .redelivers_unsettled = true,
              .groups = true,
              .requests = true},
      .make = [] { return broker("amqp://127.0.0.1"); },
      .source = [](const std::string& name) { return queue(name); },
      .at = [](const std::string& host_port) { return broker("amqp://" + host_port); },
  });
}

conformance::kit_ptr transactional_kit() {
  return conformance::kit_of<broker, queue, transactional_publish>({
      .name = "amqp_transactional",
      .can = {.settles = true,
              .requeues = true,
              .counts_deliveries = true,
              .redelivers_unsettled = true,
              .groups = true,
              .transactions = true},
      .make = [] { return broker("amqp://127.0.0.1"); },
      .source = [](const std::string& name) { return queue(name); },
      .at = [](const std::string& host_port) { return broker("amqp://" + host_port); },
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({queue_kit(), transactional_kit()});

TEST(amqp_conformance, L1_L2_L3_L4_are_checked_in_process) {
  for (const char* rule : {"L1", "L2", "L3", "L4"})
    EXPECT_TRUE(conformance::proves(*queue_kit(), rule)) << rule;
}

} // namespace
} // namespace millrace::amqp
