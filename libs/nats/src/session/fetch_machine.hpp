#pragma once

#include "session/pull_strategy.hpp"

namespace millrace::nats::detail {

/// Fetches one batch at a time, for handlers of batches. First what is there; if there is nothing, it waits for a first
/// message; then, for at most the batch's wait, for the rest. The server ends each request, or should: nats-server 2.9
/// forgets an expiry now and then, so whoever sends a request that does not last tells when its time is over. A batch
/// is asked for only when the window has room for all of it.
class fetch_machine final : public pull_strategy {
 public:
  struct config {
    std::uint32_t size = 1;   ///< of a batch, at most
    std::uint32_t window = 1; ///< messages that the client holds, at least `size`
    bool waits = true;        ///< false: a batch is what is there
  };

  explicit fetch_machine(const config& c) noexcept : config_(c), size_(c.size) {}

  /// A message came; `gathered`: it belongs to the batch.
  [[nodiscard]] pull_action on_message(bool gathered, pull_totals t) noexcept;
  /// The time of the request of this epoch is over, and the server did not say so.
  [[nodiscard]] pull_action on_overdue(std::uint32_t epoch, pull_totals t) noexcept;
  [[nodiscard]] pull_action on_released(pull_totals t, time_point /*now*/) noexcept override { return refill(t); }
  [[nodiscard]] std::uint64_t release_step(pull_totals t) const noexcept override;
  [[nodiscard]] std::uint64_t outstanding(pull_totals /*t*/) const noexcept override { return open_; }

 private:
  enum class step : std::uint8_t { idle, sweeping, waiting, completing };
  [[nodiscard]] pull_action begin(pull_totals t, time_point now) noexcept override;
  [[nodiscard]] pull_action pull_ended(unsigned code, std::int64_t undelivered, pull_totals t) noexcept override;
  [[nodiscard]] pull_action refill(pull_totals t) noexcept override;
  [[nodiscard]] pull_action request_ended(pull_totals t) noexcept;
  [[nodiscard]] pull_action end_batch(pull_totals t) noexcept;
  [[nodiscard]] pull_action ask(step next, std::uint32_t messages) noexcept;

  config config_;
  std::uint32_t size_;
  step step_ = step::idle;
  std::uint32_t open_ = 0;     ///< messages that the request may still bring
  std::uint32_t gathered_ = 0; ///< of the batch
};

} // namespace millrace::nats::detail
