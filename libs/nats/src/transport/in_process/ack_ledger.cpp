#include "transport/in_process/ack_ledger.hpp"

#include <algorithm>
#include <vector>

namespace millrace::nats::detail::in_process {

/// Takes `e` from the queue or from the deadlines, whichever it is in.
void ack_ledger::unlist(std::uint64_t sequence, entry& e) noexcept {
  if (e.queued)
    std::erase(queue_, sequence);
  else
    deadlines_.erase({e.due, sequence});
  e.queued = false;
}

void ack_ledger::delivered(std::uint64_t sequence, std::uint64_t consumer_sequence, time_point due) {
  entry& e = entries_[sequence];
  unlist(sequence, e);
  if (e.deliveries++ == 0) e.consumer_sequence = consumer_sequence;
  e.due = due;
  deadlines_.emplace(due, sequence);
}

void ack_ledger::settle(std::uint64_t sequence) {
  const auto at = entries_.find(sequence);
  if (at == entries_.end()) return;
  unlist(sequence, at->second);
  entries_.erase(at);
}

void ack_ledger::settle_to(std::uint64_t sequence) {
  while (!entries_.empty() && entries_.begin()->first <= sequence)
    settle(entries_.begin()->first);
}

void ack_ledger::requeue(std::uint64_t sequence) {
  const auto at = entries_.find(sequence);
  if (at == entries_.end() || at->second.queued) return;
  unlist(sequence, at->second);
  at->second.queued = true;
  queue_.push_back(sequence);
}

void ack_ledger::postpone(std::uint64_t sequence, time_point due) {
  const auto at = entries_.find(sequence);
  if (at == entries_.end()) return;
  unlist(sequence, at->second);
  at->second.due = due;
  deadlines_.emplace(due, sequence);
}

void ack_ledger::extend(std::uint64_t sequence, time_point due) {
  const entry* e = find(sequence);
  if (e != nullptr && !e->queued) postpone(sequence, due);
}

void ack_ledger::expire(time_point now) {
  std::vector<std::uint64_t> lost;
  for (auto at = deadlines_.begin(); at != deadlines_.end() && at->first <= now; ++at)
    lost.push_back(at->second);
  std::ranges::sort(lost);
  for (const std::uint64_t sequence : lost)
    requeue(sequence);
}

std::optional<std::uint64_t> ack_ledger::next_queued() const noexcept {
  if (queue_.empty()) return std::nullopt;
  return queue_.front();
}

const ack_ledger::entry* ack_ledger::find(std::uint64_t sequence) const noexcept {
  const auto at = entries_.find(sequence);
  return at == entries_.end() ? nullptr : &at->second;
}

std::size_t ack_ledger::redelivered() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(entries_, [](const auto& e) { return e.second.deliveries > 1; }));
}

std::optional<time_point> ack_ledger::next_due() const noexcept {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

} // namespace millrace::nats::detail::in_process
