#pragma once

#include <millrace/log.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::test_support {

/// Collects what Millrace logs while it lives.
class log_capture {
 public:
  log_capture() {
    set_log_sink([this](log_level level, std::string_view line) { // called one at a time
      const std::scoped_lock lock(mutex_);
      lines_.emplace_back(level, line);
    });
  }
  ~log_capture() { set_log_sink({}); }
  log_capture(const log_capture&) = delete;
  log_capture& operator=(const log_capture&) = delete;

  /// Lines of this level that contain every one of `parts`.
  template <class... Part> [[nodiscard]] std::size_t count(log_level level, Part... parts) const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(lines_, [&](const auto& line) {
      return line.first == level && (line.second.contains(std::string_view(parts)) && ...);
    }));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<log_level, std::string>> lines_;
};

} // namespace millrace::test_support
