#pragma once

#include <millrace/headers.hpp>
#include <millrace/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace millrace::testing {

/// Every broker in process, on a virtual clock. The default.
struct in_process {
  /// How many messages one reaction may handle, and publish, before it counts as a loop that feeds itself.
  std::size_t limit = 100'000;
  /// How long, on the real clock, to wait for outside work (`runtime::external_begin`).
  std::chrono::milliseconds external_bound = std::chrono::seconds(10);
};

/// The real brokers, on the real clock.
struct live {
  /// How long `wait_for` and `wait_for_published` wait.
  duration bound = std::chrono::seconds(10);
  /// Threads for handlers; 0: on the brokers' own I/O threads.
  unsigned threads = 1;
};

/// Headers for a publish of the test: `t.publish("orders", o, headers({{"tenant", "eu"}}))`.
[[nodiscard]] inline header_map headers(std::initializer_list<std::pair<std::string_view, std::string_view>> entries) {
  header_map map;
  for (const auto& [name, value] : entries)
    map.set(name, value);
  return map;
}

} // namespace millrace::testing
