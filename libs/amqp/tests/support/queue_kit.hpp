#pragma once

#include "support/live_server.hpp"

#include <millrace/amqp.hpp>
#include <millrace/testing/conformance_gtest.hpp>

#include <string>

namespace millrace::amqp::testing {

/// Queues on a server that knows every outcome and refuses addresses below `fixed.`.
inline millrace::testing::conformance::kit_ptr queue_kit(std::string name, live_server& (*server)(), duration quiet) {
  namespace conformance = millrace::testing::conformance;
  return conformance::kit_of<broker, queue>({
      .name = std::move(name),
      .mode = conformance::run_mode::live,
      .can = {.settles = true,
              .requeues = true,
              .counts_deliveries = true,
              .redelivers_unsettled = true,
              .groups = true,
              .shared = true,
              .stores = true,
              .requests = true},
      .make = [server] { return broker(server().url()); },
      .source = [](const std::string& address) { return queue(address); },
      .at = [](const std::string& host_port) { return broker("amqp://" + host_port); },
      .refused = [](const std::string& address) { return queue("fixed." + address); },
      .quiet = quiet,
  });
}

} // namespace millrace::amqp::testing
