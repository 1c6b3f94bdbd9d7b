// The conformance suites on NATS core and JetStream, in process on the virtual clock.
#include <millrace/nats.hpp>
#include <millrace/testing/conformance_gtest.hpp>

namespace millrace::nats {
namespace {

using namespace std::chrono_literals;
namespace conformance = testing::conformance;

void set_key(std::string_view key, header_map& headers) { headers.set("nats-partition-key", key); }

conformance::kit_ptr core_kit() {
  return conformance::kit_of<broker>({
      .name = "nats_core",
      .can = {.groups = true, .requests = true, .refuses_unheard = true},
      .make = [] { return broker("nats://127.0.0.1:4222"); },
      .source = [](const std::string& name) { return subject(name).queue_group("of_" + name); },
      .at = [](const std::string& host_port) { return broker("nats://" + host_port); },
      .key = [](std::string_view key, header_map& headers, publish::options&) { set_key(key, headers); },
  });
}

/// Its first deliveries may all be held: the default window begins with two.
jetstream durable(const std::string& name) {
  return jetstream(name, name).durable("reader").ack_wait(1s).pull_window(16);
}

conformance::kit_ptr jetstream_kit() {
  return conformance::kit_of<broker, jetstream, jetstream_publish>({
      .name = "nats_jetstream",
      .can = {.settles = true,
              .requeues = true,
              .delays = true,
              .counts_deliveries = true,
              .redelivers_unsettled = true,
              .groups = true},
      .make = [] { return broker("nats://127.0.0.1:4222"); },
      .source = durable,
      .at = [](const std::string& host_port) { return broker("nats://" + host_port); },
      .key = [](std::string_view key, header_map& headers, jetstream_publish::options&) { set_key(key, headers); },
      .position = [](const auto& m) { return *m.field(stream_sequence); },
      .start_at = [](const std::string& name,
                     std::uint64_t at) { return jetstream(name, name).deliver(deliver_policy::by_start_sequence(at)); },
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({core_kit(), jetstream_kit()});

// By the same suites as on a server.
TEST(nats_conformance, L1_L2_L3_L4_are_checked_in_process) {
  for (const auto& kit : {core_kit(), jetstream_kit()}) {
    for (const char* rule : {"L1", "L2", "L3", "L4"})
      EXPECT_TRUE(conformance::proves(*kit, rule)) << kit->name() << ' ' << rule;
  }
}

} // namespace
} // namespace millrace::nats
