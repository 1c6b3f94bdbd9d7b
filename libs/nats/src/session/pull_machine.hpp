#pragma once

#include "session/pull_strategy.hpp"

namespace millrace::nats::detail {

/// Pulls without a pause, for handlers of single messages: asks again when there is room for half a window.
class pull_machine final : public pull_strategy {
 public:
  struct config {
    std::uint32_t window = 0; ///< fixed; 0: adaptive between `floor` and `ceiling`
    std::uint32_t floor = 2;
    std::uint32_t ceiling = 1024;
    duration ack_wait{};
  };

  explicit pull_machine(const config& c) noexcept;

  [[nodiscard]] pull_action on_released(pull_totals t, time_point now) noexcept override;
  [[nodiscard]] std::uint64_t release_step(pull_totals /*t*/) const noexcept override {
    return window_ >= 4 ? window_ / 4 : 1;
  }
  [[nodiscard]] std::uint64_t outstanding(pull_totals t) const noexcept override;
  [[nodiscard]] std::uint32_t window() const noexcept { return window_; }

 private:
  [[nodiscard]] pull_action begin(pull_totals t, time_point now) noexcept override;
  [[nodiscard]] pull_action pull_ended(unsigned code, std::int64_t undelivered, pull_totals t) noexcept override;
  [[nodiscard]] pull_action refill(pull_totals t) noexcept override;
  [[nodiscard]] pull_action refill(pull_totals t, std::uint64_t room_wanted) noexcept;
  void adapt(pull_totals t, time_point now) noexcept;

  config config_;
  std::uint32_t window_;
  std::uint64_t requested_ = 0; ///< this epoch
  std::uint64_t void_ = 0;      ///< requested and reported undelivered, this epoch
  std::uint64_t base_ = 0;      ///< received when the epoch began
  std::uint64_t mark_ = 0;
  time_point mark_time_{};
};

} // namespace millrace::nats::detail
