// The conformance suites over gRPC, on the fake.
#include <millrace/pubsub.hpp>
#include <millrace/testing/conformance_gtest.hpp>
#include <millrace/testing/pubsub.hpp>

#include <stdexcept>

namespace millrace::pubsub {
namespace {

using namespace std::chrono_literals;
using testing::fake_pubsub;
namespace conformance = testing::conformance;

/// Started by the first check of a process.
fake_pubsub& server() {
  static fake_pubsub one;
  return one;
}

broker at(const std::string& host_port) {
  broker b("test-project");
  b.emulator(host_port);
  return b;
}

result<void> prepare(const std::string& name) {
  const std::string topic = "projects/test-project/topics/" + name;
  server().create_topic(topic);
  fake_pubsub::subscription wanted("projects/test-project/subscriptions/" + name, topic);
  wanted.ordered = true;
  server().create_subscription(wanted);
  return {};
}

conformance::kit_ptr kit() {
  return conformance::kit_of<broker>({
      .name = "pubsub_fake",
      .mode = conformance::run_mode::live,
      .can = {.settles = true,
              .requeues = true,
              .delays = true,
              .redelivers_unsettled = true,
              .groups = true,
              .shared = true,
              .stores = true},
      .make = [] { return at(server().address()); },
      .source = [](const std::string& name) { return subscription(name); },
      .prepare = prepare,
      .at = at,
      .refused = [](const std::string& name) { return subscription(name); }, // there is no such subscription
      .quiet = 500ms,
      .key = [](std::string_view key, header_map&, publish::options& o) { o.ordering_key(std::string(key)); },
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({kit()});

TEST(pubsub_server_conformance, L1_L2_L3_L4_are_checked_over_grpc) {
  for (const char* rule : {"L1", "L2", "L3", "L4"})
    EXPECT_TRUE(conformance::proves(*kit(), rule)) << rule;
}

} // namespace
} // namespace millrace::pubsub
