#pragma once

#include <millrace/error.hpp>
#include <millrace/runtime.hpp>
#include <millrace/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace millrace::resilience {

enum class claim_state : std::uint8_t {
  fresh,       ///< the caller has it now, and ends it with `complete` or `forget`
  in_progress, ///< another one has it
  done,        ///< its effect took place
};

/// What a store answers to a claim. The ticket tells a claim from a later one of the same id.
struct claim {
  claim_state state = claim_state::fresh;
  std::uint64_t ticket = 0;
};

/// Remembers which messages had their effect. Thread-safe. A claim that is never ended lapses after the store's lease,
/// so that a process that died does not hold it for ever: the lease must be longer than any handler runs.
///
/// `now` is the service's clock; a store that outlives the process has a clock of its own. An `id` must live until the
/// task has ended.
class idempotency_store {
 public:
  idempotency_store() = default;
  idempotency_store(const idempotency_store&) = delete;
  idempotency_store& operator=(const idempotency_store&) = delete;
  virtual ~idempotency_store() = default;

  [[nodiscard]] virtual task<result<claim>> try_claim(std::string_view id, time_point now) = 0;
  /// The effect took place; also when the claim lapsed meanwhile.
  [[nodiscard]] virtual task<result<void>> complete(std::string_view id, time_point now) = 0;
  /// There was no effect. Ends the claim with this ticket and no other; what is done stays done.
  [[nodiscard]] virtual task<result<void>> forget(std::string_view id, std::uint64_t ticket) = 0;
};

/// A store in this process: what was done is forgotten with it, after `ttl`, or when `capacity` ids are known, the
/// oldest first.
class memory_store_options {
 public:
  memory_store_options() = default;
  memory_store_options& capacity(std::size_t ids) noexcept {
    capacity_ = ids;
    return *this;
  }
  memory_store_options& ttl(duration d) noexcept {
    ttl_ = d;
    return *this;
  }
  memory_store_options& lease(duration d) noexcept {
    lease_ = d;
    return *this;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] duration ttl() const noexcept { return ttl_; }
  [[nodiscard]] duration lease() const noexcept { return lease_; }

 private:
  std::size_t capacity_ = 100'000;
  duration ttl_ = std::chrono::hours(1);
  duration lease_ = std::chrono::minutes(5);
};

/// Two blocks and about 150 bytes an id, beside the id itself; never more than `capacity` of them. If all of them are
/// claims in progress, one more is refused with `errc::queue_full`.
class memory_idempotency_store final : public idempotency_store {
 public:
  explicit memory_idempotency_store(memory_store_options options = {});
  ~memory_idempotency_store() override;

  task<result<claim>> try_claim(std::string_view id, time_point now) override;
  task<result<void>> complete(std::string_view id, time_point now) override;
  task<result<void>> forget(std::string_view id, std::uint64_t ticket) override;

  /// How many ids it knows.
  [[nodiscard]] std::size_t size() const;

 private:
  class table;
  std::unique_ptr<table> table_;
};

} // namespace millrace::resilience
