// The conformance suites on a real nats-server: core, and JetStream with a stream of its own for every name.
#include "admin.hpp"
#include "nats_server.hpp"

#include <millrace/nats.hpp>
#include <millrace/testing/conformance_gtest.hpp>

namespace millrace::nats::test {
namespace {

using namespace std::chrono_literals;
namespace conformance = testing::conformance;

/// Started by the first check of a process.
nats_server& server() {
  static nats_server one;
  return one;
}

result<void> add_stream(const std::string& name) {
  try {
    admin(server().url()).add_stream(name, {name});
  } catch (const std::exception& e) {
    return fail(millrace::errc::connect, e.what());
  }
  return {};
}

void set_key(std::string_view key, header_map& headers) { headers.set("nats-partition-key", key); }

conformance::kit_ptr core_kit() {
  return conformance::kit_of<broker>({
      .name = "nats_core",
      .mode = conformance::run_mode::live,
      .can = {.groups = true, .shared = true, .requests = true, .refuses_unheard = true},
      .make = [] { return broker(server().url()); },
      .source = [](const std::string& name) { return subject(name).queue_group("of_" + name); },
      .at = [](const std::string& host_port) { return broker("nats://" + host_port); },
      .quiet = 300ms,
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
      .mode = conformance::run_mode::live,
      .can = {.settles = true,
              .requeues = true,
              .delays = true,
              .counts_deliveries = true,
              .redelivers_unsettled = true,
              .groups = true,
              .shared = true,
              .stores = true},
      .make = [] { return broker(server().url()); },
      .source = durable,
      .prepare = add_stream,
      .at = [](const std::string& host_port) { return broker("nats://" + host_port); },
      .refused = [](const std::string& name) { return jetstream(name, name); }, // there is no such stream
      .quiet = 1500ms,
      .key = [](std::string_view key, header_map& headers, jetstream_publish::options&) { set_key(key, headers); },
      .position = [](const auto& m) { return *m.field(stream_sequence); },
      .start_at = [](const std::string& name,
                     std::uint64_t at) { return jetstream(name, name).deliver(deliver_policy::by_start_sequence(at)); },
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({core_kit(), jetstream_kit()});

TEST(nats_server_conformance, L1_L2_L3_L4_are_checked_on_a_server) {
  for (const auto& kit : {core_kit(), jetstream_kit()}) {
    for (const char* rule : {"L1", "L2", "L3", "L4"})
      EXPECT_TRUE(conformance::proves(*kit, rule)) << kit->name() << ' ' << rule;
  }
}

} // namespace
} // namespace millrace::nats::test
