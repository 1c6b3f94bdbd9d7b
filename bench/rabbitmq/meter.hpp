#pragma once

#include "../shared/meter.hpp"
#include "../shared/run_side.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench {

// Classic and transient; both are empty, or filled anew, before each run.
constexpr const char* publish_queue = "bench.publish";
constexpr const char* consume_queue = "bench.consume";
constexpr std::uint16_t prefetch = 256;
/// Messages that are published and not confirmed.
constexpr std::size_t window = 256;

[[nodiscard]] std::string_view payload(std::size_t size);

// The two sides, and what prepares a run. Each answers an exit code.
namespace bare {
int publish(const run_options& options, std::size_t size);
int confirms(const run_options& options);
int consume(const run_options& options);
/// Confirmed publishes as no client costs them.
int ready_bytes(const run_options& options);
/// Declares the queues, and leaves `messages` of 16 bytes in the one that is consumed.
int fill(const run_options& options);
} // namespace bare
namespace framework {
int publish(const run_options& options, std::size_t size);
int confirms(const run_options& options);
int consume(const run_options& options);
/// Publishes and consumes in one process, and tells its memory as it goes.
int memory(const run_options& options);
} // namespace framework

} // namespace bench
