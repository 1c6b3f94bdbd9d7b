#pragma once

#include "../shared/meter.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What a run is told on its command line.
struct run_options {
  std::string url;
  std::string queue;
  std::size_t messages = 0;
};

constexpr std::string_view sixteen_bytes = "0123456789abcdef";
constexpr std::size_t warm_up_requests = 500;
constexpr int window = 256; ///< credit of a reader, and publishes under way

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point began) noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Of times in milliseconds.
inline void report_times(std::vector<double>& took) {
  std::ranges::sort(took);
  std::fprintf(stderr, "median=%.4f p99=%.4f\n", took[took.size() / 2], took[took.size() * 99 / 100]);
}

// The sides. Each answers an exit code.
namespace bare {
int consume(const run_options& options);
int publish(const run_options& options);
int request(const run_options& options);
} // namespace bare
namespace engine {
int consume(const run_options& options);
} // namespace engine
namespace framework {
int consume(const run_options& options);
int publish(const run_options& options);
int publish_one_at_a_time(const run_options& options);
int request(const run_options& options);
} // namespace framework

} // namespace bench
