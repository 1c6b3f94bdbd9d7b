#pragma once

#include <millrace/runtime.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>

namespace millrace::nats::detail::in_process {

/// The deliveries of a consumer that are not settled, and those of them that wait to be delivered again.
class ack_ledger {
 public:
  struct entry {
    std::uint64_t consumer_sequence = 0; ///< of the first delivery
    std::int64_t deliveries = 0;
    time_point due{};    ///< when the delivery counts as lost; meaningless while queued
    bool queued = false; ///< for redelivery
  };

  void delivered(std::uint64_t sequence, std::uint64_t consumer_sequence, time_point due);
  /// Forgets the delivery.
  void settle(std::uint64_t sequence);
  /// Forgets it and all before it.
  void settle_to(std::uint64_t sequence);
  void requeue(std::uint64_t sequence);
  /// Comes back at `due`, not before.
  void postpone(std::uint64_t sequence, time_point due);
  /// In progress: the wait begins anew.
  void extend(std::uint64_t sequence, time_point due);
  /// Queues what is overdue, in sequence order.
  void expire(time_point now);

  /// The first that waits for redelivery.
  [[nodiscard]] std::optional<std::uint64_t> next_queued() const noexcept;
  [[nodiscard]] const entry* find(std::uint64_t sequence) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t queued() const noexcept { return queue_.size(); }
  [[nodiscard]] std::size_t redelivered() const noexcept;
  [[nodiscard]] std::optional<time_point> next_due() const noexcept;
  /// The lowest unsettled, by stream sequence.
  [[nodiscard]] const std::map<std::uint64_t, entry>& entries() const noexcept { return entries_; }

 private:
  void unlist(std::uint64_t sequence, entry& e) noexcept;
  std::map<std::uint64_t, entry> entries_;
  std::deque<std::uint64_t> queue_;
  std::set<std::pair<time_point, std::uint64_t>> deadlines_;
};

} // namespace millrace::nats::detail::in_process
