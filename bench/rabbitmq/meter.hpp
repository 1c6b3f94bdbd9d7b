#pragma once

#include "../shared/moment.hpp"

#include <cstddef>
#include <cstdint>
#include <semaphore>
#include <string>
#include <string_view>

namespace bench {

/// What a run is told on its command line.
struct run_options {
  std::string url;
  std::size_t messages = 0;
  unsigned threads = 0;
};

// Classic and transient; both are empty, or filled anew, before each run.
constexpr const char* publish_queue = "bench.publish";
constexpr const char* consume_queue = "bench.consume";
constexpr std::uint16_t prefetch = 256;
/// Messages that are published and not confirmed.
constexpr std::size_t window = 256;

[[nodiscard]] std::string_view payload(std::size_t size);

/// CPU and wall time from the first message to the last.
class meter {
 public:
  explicit meter(std::size_t messages) noexcept : messages_(messages) {}
  void begin() noexcept { start_ = moment::now(); }
  void end() noexcept { end_ = moment::now(); }
  /// In the handler, with the size of what came.
  void message(std::size_t size) noexcept {
    sum_ += size;
    if (seen_ == 0) [[unlikely]]
      begin();
    if (++seen_ == messages_) [[unlikely]] {
      end();
      over_.release();
    }
  }
  [[nodiscard]] bool over() const noexcept { return seen_ == messages_; }
  void wait() noexcept { over_.acquire(); }
  void report() const;

 private:
  std::size_t messages_;
  std::size_t seen_ = 0;
  std::uint64_t sum_ = 0;
  moment start_;
  moment end_;
  std::binary_semaphore over_{0};
};

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
