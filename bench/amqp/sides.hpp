#pragma once

#include <sys/resource.h>

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

/// CPU time of this process, all its threads, and wall time between `begin` and `end`.
class meter {
 public:
  void begin() noexcept { start_ = now(); }
  void end() noexcept { end_ = now(); }
  void report(std::size_t messages) const {
    std::fprintf(stderr, "cpu=%.6f wall=%.6f messages=%zu\n", end_.cpu - start_.cpu, end_.wall - start_.wall, messages);
  }

 private:
  struct moment {
    double cpu = 0;
    double wall = 0;
  };
  [[nodiscard]] static moment now() noexcept {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now().time_since_epoch();
    return {seconds(used.ru_utime) + seconds(used.ru_stime), wall.count()};
  }
  moment start_;
  moment end_;
};

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
