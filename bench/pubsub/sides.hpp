#pragma once

#include "../shared/moment.hpp"

#include <cstddef>
#include <cstdio>
#include <semaphore>
#include <string>
#include <string_view>

namespace bench {

/// What a run is told on its command line.
struct run_options {
  std::string address;
  std::size_t messages = 0;
  unsigned threads = 0;
};

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

/// CPU and wall time from the first message to the last.
class meter {
 public:
  explicit meter(std::size_t messages) noexcept : messages_(messages) {}
  void begin() noexcept { start_ = moment::now(); }
  void end() noexcept { end_ = moment::now(); }
  /// With the size of what came. True: it was the last one.
  bool message(std::size_t size) noexcept {
    sum_ += size;
    if (seen_ == 0) [[unlikely]]
      begin();
    if (++seen_ != messages_) [[likely]]
      return false;
    end();
    over_.release();
    return true;
  }
  void wait() noexcept { over_.acquire(); }
  void report() const {
    std::fprintf(stderr, "cpu=%.6f wall=%.6f messages=%zu bytes=%zu\n", end_.cpu - start_.cpu, end_.wall - start_.wall,
                 messages_, sum_);
  }

 private:
  std::size_t messages_;
  std::size_t seen_ = 0;
  std::size_t sum_ = 0;
  moment start_;
  moment end_;
  std::binary_semaphore over_{0};
};

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
