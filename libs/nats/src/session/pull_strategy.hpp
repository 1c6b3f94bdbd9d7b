#pragma once

#include <millrace/runtime.hpp>

#include <cstdint>
#include <string_view>

namespace millrace::nats::detail {

/// Of one subscription, since it began: messages that the client got, and those that it holds no longer.
struct pull_totals {
  std::uint64_t received = 0;
  std::uint64_t released = 0;
};

enum class pull_advice : std::uint8_t {
  none,
  verify, ///< look the consumer up
  gone,   ///< the server says that it was deleted: look it up, and do not recreate it
};

/// How long the server keeps a pull request.
enum class pull_kind : std::uint8_t {
  open,  ///< for `pull_expires`, with heartbeats
  sweep, ///< only for what is there now
  rest,  ///< until the batch may wait no longer
};

/// What a strategy wants done.
struct pull_action {
  std::uint32_t pull = 0; ///< messages to ask for; 0: none
  pull_kind how = pull_kind::open;
  bool batch_ends = false; ///< what was gathered is a batch
  pull_advice then = pull_advice::none;
};

/// Decides when to pull and how much, and when something is wrong. No I/O and no clock: it is told the totals, the
/// statuses of the server and the time, and answers what to do. Not thread-safe.
///
/// What the client holds (received and not released) and what it has asked for never exceed the window together.
class pull_strategy {
 public:
  pull_strategy() = default;
  pull_strategy(const pull_strategy&) = delete;
  pull_strategy& operator=(const pull_strategy&) = delete;
  virtual ~pull_strategy() = default;

  /// A fresh start: what was asked for before is void, and its late statuses are ignored by their epoch.
  [[nodiscard]] pull_action restart(pull_totals t, time_point now) noexcept;
  /// A status of a pull request; `undelivered` is what the server says it did not send for it, negative if it does not
  /// say.
  [[nodiscard]] pull_action on_status(unsigned code, std::string_view text, std::int64_t undelivered,
                                      std::uint32_t epoch, pull_totals t) noexcept;
  /// Once per heartbeat interval.
  [[nodiscard]] pull_action on_tick(pull_totals t) noexcept;
  /// Messages were released.
  [[nodiscard]] virtual pull_action on_released(pull_totals t, time_point now) noexcept = 0;
  /// How many more releases are worth telling.
  [[nodiscard]] virtual std::uint64_t release_step(pull_totals t) const noexcept = 0;

  [[nodiscard]] virtual std::uint64_t outstanding(pull_totals t) const noexcept = 0;
  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }

 protected:
  /// Late statuses of the requests before are ignored from here on.
  void begin_epoch() noexcept { ++epoch_; }

 private:
  [[nodiscard]] virtual pull_action begin(pull_totals t, time_point now) noexcept = 0;
  /// The server ended a request, with 404, 408 or 409.
  [[nodiscard]] virtual pull_action pull_ended(unsigned code, std::int64_t undelivered, pull_totals t) noexcept = 0;
  [[nodiscard]] virtual pull_action refill(pull_totals t) noexcept = 0;

  std::uint32_t epoch_ = 0;
  std::uint64_t statuses_ = 0;
  std::uint64_t last_sign_ = 0;
  unsigned silent_ticks_ = 0;
};

} // namespace millrace::nats::detail
