// The conformance suites in process, on the virtual clock.
#include <millrace/pubsub.hpp>
#include <millrace/testing/conformance_gtest.hpp>

namespace millrace::pubsub {
namespace {

namespace conformance = testing::conformance;

conformance::kit_ptr kit() {
  return conformance::kit_of<broker>({
      .name = "pubsub",
      .can = {.settles = true, .requeues = true, .delays = true, .redelivers_unsettled = true, .groups = true},
      .make = [] { return broker("test-project"); },
      .source = [](const std::string& name) { return subscription(name).create_with_topic(name); },
      .at =
          [](const std::string& host_port) {
            broker b("test-project");
            b.emulator(host_port);
            return b;
          },
      .key = [](std::string_view key, header_map&, publish::options& o) { o.ordering_key(std::string(key)); },
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({kit()});

// By the same suites as on a server.
TEST(pubsub_conformance, L1_L2_L3_L4_are_checked_in_process) {
  for (const char* rule : {"L1", "L2", "L3", "L4"})
    EXPECT_TRUE(conformance::proves(*kit(), rule)) << rule;
}

} // namespace
} // namespace millrace::pubsub
