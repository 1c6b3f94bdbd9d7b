#pragma once

#include "../shared/meter.hpp"
#include "../shared/run_side.hpp"

#include <cstddef>
#include <string_view>

namespace bench {

constexpr const char* project = "bench-project";
/// A topic that nobody is subscribed to, and one whose subscription of the same id keeps what is published.
constexpr const char* plain_topic = "bench-plain";
constexpr const char* kept_topic = "bench-kept";

constexpr std::string_view sixteen_bytes = "0123456789abcdef";
constexpr std::size_t request_messages = 1000;
constexpr std::size_t requests_under_way = 8;
constexpr std::size_t outstanding = 1000;        ///< messages that are delivered and not acknowledged
constexpr std::size_t ack_ids = outstanding / 4; ///< of one acknowledgement
constexpr std::size_t outstanding_bytes = 100 << 20;
constexpr int ack_deadline = 60;

// The two sides. Each answers an exit code.
namespace bare {
int consume(const run_options& options);
int publish(const run_options& options, const char* topic);
} // namespace bare
namespace framework {
int consume(const run_options& options);
int publish(const run_options& options);
} // namespace framework

} // namespace bench
