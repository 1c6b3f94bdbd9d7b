#pragma once

#include <sys/resource.h>

#include <chrono>

namespace bench {

/// CPU seconds of this process, all its threads, and wall seconds.
struct moment {
  double cpu = 0;
  double wall = 0;

  [[nodiscard]] static moment now() noexcept {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now().time_since_epoch();
    return {seconds(used.ru_utime) + seconds(used.ru_stime), wall.count()};
  }
};

} // namespace bench
