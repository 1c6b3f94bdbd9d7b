#pragma once

#include "protocol/message_codec.hpp"
#include "transport/transport.hpp"

#include <millrace/confirmation.hpp>
#include <millrace/incoming.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>

namespace millrace::pubsub::detail {

class leases;
class pull_block;

/// One message of a response, read where it lies.
class pull_delivery final : public incoming {
 public:
  explicit pull_delivery(pull_block& block) noexcept : block_(block) {}
  void load(const received_view& from) noexcept;

  [[nodiscard]] const header_map& headers() override;
  [[nodiscard]] std::uint32_t delivery_count() const noexcept override { return view_.delivery_attempt; }
  [[nodiscard]] bool delays() const noexcept override { return true; }
  [[nodiscard]] std::string_view partition_key() override { return view_.ordering_key; }
  [[nodiscard]] const void* field(const field_id& id) override;
  [[nodiscard]] result<void> settle(settlement how) noexcept override;
  void release() noexcept override;
  /// Of an exactly-once subscription, whose settlements may be refused when they arrive.
  [[nodiscard]] std::shared_ptr<confirmation> confirmation_of_settlement() override;
  [[nodiscard]] std::shared_ptr<confirmation> take_confirmation() noexcept { return std::move(confirmation_); }

  /// What has become of it. Only `open` and `delayed` ones are leased.
  enum class state : std::uint8_t { open, delayed, settled };
  [[nodiscard]] state now() const noexcept { return state_.load(std::memory_order_acquire); }
  /// Only the first one that settles it does; false for the others.
  [[nodiscard]] bool become(state s) noexcept {
    state seen = now();
    while (seen != state::settled)
      if (state_.compare_exchange_weak(seen, s, std::memory_order_acq_rel)) return true;
    return false;
  }
  [[nodiscard]] std::string_view ack_id() const noexcept { return view_.ack_id; }
  [[nodiscard]] pull_block& block() const noexcept { return block_; }

 private:
  pull_block& block_;
  received_view view_;
  std::atomic<state> state_ = state::open;
  std::chrono::sys_time<std::chrono::nanoseconds> published_{};
  bool headers_ready_ = false;
  header_map headers_;
  std::shared_ptr<confirmation> confirmation_;
};

/// The deliveries of one response, the response itself, and their common lease. Reused: in steady state a message
/// allocates nothing.
class pull_block {
 public:
  pull_block() = default;
  pull_block(const pull_block&) = delete;
  pull_block& operator=(const pull_block&) = delete;

  void fill(std::shared_ptr<leases> owner, shared_bytes response) noexcept;
  [[nodiscard]] pull_delivery& add(const received_view& from);
  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  [[nodiscard]] auto begin() noexcept { return nodes_.begin(); }
  [[nodiscard]] auto end() noexcept { return nodes_.begin() + static_cast<std::ptrdiff_t>(used_); }
  [[nodiscard]] const std::shared_ptr<leases>& owner() const noexcept { return owner_; }
  /// Lets go of the response; the caller keeps the owner.
  [[nodiscard]] std::shared_ptr<leases> empty() noexcept;

  void hold(std::uint32_t n) noexcept { holds_.fetch_add(n, std::memory_order_relaxed); }
  /// True: nobody holds it any more.
  [[nodiscard]] bool drop() noexcept { return holds_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// True: it was the last unsettled one.
  [[nodiscard]] bool settled_one() noexcept { return unsettled_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  void begin_leases(std::uint32_t n) noexcept { unsettled_.store(n, std::memory_order_release); }

  time_point received{};
  time_point expires{};
  bool kept = false; ///< in the lease keeper's list
  pull_block* previous_kept = nullptr;
  pull_block* next_kept = nullptr;

 private:
  shared_bytes response_;
  std::shared_ptr<leases> owner_;
  std::deque<pull_delivery> nodes_;
  std::size_t used_ = 0;
  std::atomic<std::uint32_t> holds_ = 0; ///< unreleased and delayed deliveries, and the lease keeper
  std::atomic<std::uint32_t> unsettled_ = 0;
};

} // namespace millrace::pubsub::detail
