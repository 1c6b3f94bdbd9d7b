// The conformance suites on the embedded broker: in process on the virtual clock, and "live" on real threads.
#include <millrace/memory.hpp>
#include <millrace/testing/conformance_gtest.hpp>

namespace millrace::memory {
namespace {

namespace conformance = testing::conformance;

conformance::kit_ptr kit(conformance::run_mode mode) {
  return conformance::kit_of<broker>({
      .name = "memory",
      .mode = mode,
      .can = {.settles = true,
              .requeues = true,
              .delays = true,
              .counts_deliveries = true,
              .redelivers_unsettled = true,
              .groups = true,
              .requests = true,
              .refuses_unheard = true},
      .make = [] { return broker{}; },
      .source = [](const std::string& name) { return topic(name).group("conformance"); },
      .refused = [](const std::string& name) { return topic(name).from_start(); }, // the broker retains nothing
      .quiet = std::chrono::milliseconds(300),
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({
    kit(conformance::run_mode::in_process),
    kit(conformance::run_mode::live),
});

// Which checks prove them is in the rule that each registered test records.
TEST(memory_conformance, L1_L2_L3_L4_are_checked) {
  for (const auto mode : {conformance::run_mode::in_process, conformance::run_mode::live}) {
    for (const char* rule : {"L1", "L2", "L3", "L4"})
      EXPECT_TRUE(conformance::proves(*kit(mode), rule)) << rule;
  }
}

} // namespace
} // namespace millrace::memory
