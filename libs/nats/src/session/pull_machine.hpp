#pragma once

#include <millrace/runtime.hpp>

#include <cstdint>
#include <string_view>

namespace millrace::nats::detail {

/// Decides when to pull and how much, and when something is wrong. No I/O and no clock: it is told the totals of
/// messages received and released, the statuses of the server and the time, and answers what to do. Not thread-safe.
///
/// What the client holds (received and not released) and what it has asked for never exceed the window together.
class pull_machine {
 public:
  struct config {
    std::uint32_t window = 0; ///< fixed; 0: adaptive between `floor` and `ceiling`
    std::uint32_t floor = 2;
    std::uint32_t ceiling = 1024;
    duration ack_wait{};
  };
  struct totals {
    std::uint64_t received = 0;
    std::uint64_t released = 0;
  };
  enum class advice : std::uint8_t {
    none,
    verify, ///< look the consumer up
    gone,   ///< the server says that it was deleted: look it up, and do not recreate it
  };
  struct action {
    std::uint32_t pull = 0; ///< messages to ask for; 0: none
    advice then = advice::none;
  };

  explicit pull_machine(const config& c) noexcept;

  /// A fresh start: what was asked for before is void, and its late statuses are ignored by their epoch.
  [[nodiscard]] action restart(totals t, time_point now) noexcept;
  /// Messages were released: pulls where there is room for half a window.
  [[nodiscard]] action on_released(totals t, time_point now) noexcept;
  /// A status of a pull request; `undelivered` is what the server says it did not send for it, negative if it does not
  /// say.
  [[nodiscard]] action on_status(unsigned code, std::string_view text, std::int64_t undelivered, std::uint32_t epoch,
                                 totals t, time_point now) noexcept;
  /// Once per heartbeat interval.
  [[nodiscard]] action on_tick(totals t, time_point now) noexcept;

  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint32_t window() const noexcept { return window_; }
  /// How many more releases are worth telling.
  [[nodiscard]] std::uint32_t release_step() const noexcept { return window_ >= 4 ? window_ / 4 : 1; }
  [[nodiscard]] std::uint64_t outstanding(totals t) const noexcept;

 private:
  [[nodiscard]] action refill(totals t, std::uint64_t room_wanted) noexcept;
  void adapt(totals t, time_point now) noexcept;

  config config_;
  std::uint32_t window_;
  std::uint32_t epoch_ = 0;
  std::uint64_t requested_ = 0; ///< this epoch
  std::uint64_t void_ = 0;      ///< requested and reported undelivered, this epoch
  std::uint64_t base_ = 0;      ///< received when the epoch began
  std::uint64_t statuses_ = 0;
  std::uint64_t last_sign_ = 0;
  unsigned silent_ticks_ = 0;
  std::uint64_t mark_ = 0;
  time_point mark_time_{};
};

} // namespace millrace::nats::detail
