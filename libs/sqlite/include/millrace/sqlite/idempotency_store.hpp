#pragma once

#include <millrace/resilience/idempotency_store.hpp>
#include <millrace/sqlite/errors.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace millrace::sqlite {

class idempotency_options {
 public:
  /// Milliseconds since 1970.
  using wall_clock = std::function<std::int64_t()>;

  idempotency_options() = default;
  /// How long an id that is done is remembered. Default: 7 days.
  idempotency_options& ttl(std::chrono::milliseconds d) noexcept {
    ttl_ = d;
    return *this;
  }
  /// When a claim that nobody ended lapses. Longer than any handler runs. Default: 5 minutes.
  idempotency_options& lease(std::chrono::milliseconds d) noexcept {
    lease_ = d;
    return *this;
  }
  /// How long an operation blocks, at most, for another connection that is writing; real time. Default: 1 s.
  idempotency_options& busy_timeout(std::chrono::milliseconds d) noexcept {
    busy_timeout_ = d;
    return *this;
  }
  /// True: what is done is on the disk before the message is settled. False: a loss of power may forget the last ones;
  /// a crash of the process does not. Several times faster. Default: true.
  idempotency_options& survive_power_loss(bool on) noexcept {
    survive_power_loss_ = on;
    return *this;
  }
  /// Instead of SQLite's clock. Times in the file are read by later processes, so a service's clock will not do.
  idempotency_options& clock(wall_clock now) {
    clock_ = std::move(now);
    return *this;
  }

  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept { return ttl_; }
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept { return lease_; }
  [[nodiscard]] std::chrono::milliseconds busy_timeout() const noexcept { return busy_timeout_; }
  [[nodiscard]] bool survives_power_loss() const noexcept { return survive_power_loss_; }
  [[nodiscard]] const wall_clock& clock() const noexcept { return clock_; }

 private:
  std::chrono::milliseconds ttl_ = std::chrono::days(7);
  std::chrono::milliseconds lease_ = std::chrono::minutes(5);
  std::chrono::milliseconds busy_timeout_ = std::chrono::seconds(1);
  bool survive_power_loss_ = true;
  wall_clock clock_;
};

/// Ids in the table `millrace_idempotency` of a SQLite file in WAL mode. Several stores, in this process and in others,
/// on one machine, may share the file. What is done outlives restarts.
///
/// Thread-safe: one connection behind a lock. Every operation blocks its thread: for a write, for `busy_timeout` at
/// most while others write, and, unless told otherwise, for the disk. Give the service threads of its own
/// (`threads(n)`). Ids that are past their time are removed a few with each claim, so the file grows with the ids of
/// one `ttl`, and does not shrink.
class idempotency_store final : public resilience::idempotency_store {
 public:
  /// Opens the file, or makes it. Blocks.
  [[nodiscard]] static result<std::shared_ptr<idempotency_store>> open(const std::string& path,
                                                                       idempotency_options options = {});
  /// Closes, unless `close` did.
  ~idempotency_store() override;

  task<result<resilience::claim>> try_claim(std::string_view id, time_point now) override;
  task<result<void>> complete(std::string_view id, time_point now) override;
  task<result<void>> forget(std::string_view id, std::uint64_t ticket) override;

  /// Closes the file; operations answer `errc::closed` from now on.
  result<void> close();

 private:
  class database;
  explicit idempotency_store(std::unique_ptr<database> db) noexcept;
  std::unique_ptr<database> db_;
};

} // namespace millrace::sqlite
