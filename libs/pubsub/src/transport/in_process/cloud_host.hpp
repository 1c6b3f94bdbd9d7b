#pragma once

#include "cloud/cloud.hpp"
#include "session/alarm.hpp"

#include <millrace/error.hpp>

#include <memory>
#include <mutex>

namespace millrace::pubsub::detail {

/// The embedded service of one broker and its copies, on the clock of the first runtime that connects, until nobody is
/// connected. Thread-safe.
class cloud_host {
 public:
  enum class mode : std::uint8_t { none, live, in_process };

  /// A broker and its copies are all live or all in process: the other is `errc::connect`.
  [[nodiscard]] result<void> choose(mode wanted);
  void begin(runtime& rt);
  /// Once for each `begin`, while its runtime lives.
  void end();

  /// Runs `act(cloud, now)` and what it makes due.
  template <class Act> auto with(Act act) {
    const std::lock_guard lock(mutex_);
    const time_point now = clock_->now();
    auto answer = act(*cloud_, now);
    run(now);
    return answer;
  }

 private:
  void run(time_point now);
  void tick();

  std::mutex mutex_;
  mode mode_ = mode::none;
  runtime* clock_ = nullptr;
  std::unique_ptr<cloud> cloud_;
  std::unique_ptr<alarm> alarm_; ///< while somebody is connected
  std::size_t connected_ = 0;
};

} // namespace millrace::pubsub::detail
