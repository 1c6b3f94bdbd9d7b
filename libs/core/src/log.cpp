#include <millrace/log.hpp>

#include <mutex>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace millrace {
namespace {

/// Never destroyed, as the slot below: a thread that a stop left behind may log while the process ends.
spdlog::logger& default_logger() {
  static auto* const logger = new spdlog::logger("millrace", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return *logger;
}

spdlog::level::level_enum level_of(log_level level) noexcept {
  switch (level) {
  case log_level::debug:
    return spdlog::level::debug;
  case log_level::info:
    return spdlog::level::info;
  case log_level::warning:
    return spdlog::level::warn;
  case log_level::error:
    return spdlog::level::err;
  }
  return spdlog::level::err;
}

struct sink_slot {
  std::mutex mutex;
  log_sink sink;
};

sink_slot& current() {
  static auto* const slot = new sink_slot;
  return *slot;
}

} // namespace

void set_log_sink(log_sink sink) {
  const std::scoped_lock lock(current().mutex);
  current().sink = std::move(sink);
}

void log(log_level level, std::string_view line) {
  const std::scoped_lock lock(current().mutex);
  if (current().sink) return current().sink(level, line);
  default_logger().log(level_of(level), spdlog::string_view_t(line.data(), line.size()));
}

} // namespace millrace
