#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace millrace {

enum class log_level : std::uint8_t { debug, info, warning, error };

/// Receives each line Millrace logs. Called from any thread, one call at a time.
using log_sink = std::function<void(log_level, std::string_view)>;

/// Replaces the sink; an empty one brings the default back: spdlog to standard error, from `info` on.
void set_log_sink(log_sink sink);

/// Logs one line. Millrace logs no credential and no payload.
void log(log_level level, std::string_view line);

} // namespace millrace
