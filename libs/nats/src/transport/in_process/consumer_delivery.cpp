#include "transport/in_process/consumer.hpp"

#include "protocol/subject.hpp"

#include <algorithm>

namespace millrace::nats::detail::in_process {

void consumer::start_at_policy() {
  const std::uint64_t end = store_->last() + 1;
  switch (config_.deliver) {
  case deliver_policy::all:
    break;
  case deliver_policy::fresh:
    next_ = end;
    break;
  case deliver_policy::by_start_sequence:
    next_ = std::min(config_.start_sequence, end);
    break;
  case deliver_policy::last_per_subject:
    return start_at_last_per_subject();
  case deliver_policy::last:
    for (const auto& [subject, last] : store_->subjects())
      if (config_.filter_subject.empty() || matches(config_.filter_subject, subject)) next_ = std::max(next_, last);
    break;
  case deliver_policy::by_start_time:
    next_ = store_->first();
    while (next_ < end && store_->find(next_)->time < *config_.start_time)
      ++next_;
    break;
  }
  next_ = std::max(next_, store_->first());
}

void consumer::start_at_last_per_subject() {
  for (const auto& [subject, last] : store_->subjects())
    if (matches(config_.filter_subject, subject)) listed_.push_back(last);
  std::ranges::sort(listed_);
  next_ = store_->last() + 1;
}

void consumer::pump() {
  if (pulls_.size() == 0) return;
  for (;;) {
    const auto next = next_candidate();
    if (!next) break;
    if (!deliver(*next)) return;
  }
  if (!at_ack_limit()) pulls_.end_one_shots();
}

bool consumer::at_ack_limit() const noexcept {
  return config_.max_ack_pending > 0 && ledger_.size() >= static_cast<std::size_t>(config_.max_ack_pending);
}

std::optional<consumer::candidate> consumer::next_candidate() {
  if (auto again = next_again()) return again;
  if (at_ack_limit()) return std::nullopt;
  return next_fresh();
}

/// What is spent or no longer stored leaves the ledger here.
std::optional<consumer::candidate> consumer::next_again() {
  while (const auto sequence = ledger_.next_queued()) {
    const bool spent = config_.max_deliver > 0 && ledger_.find(*sequence)->deliveries >= config_.max_deliver;
    if (!spent && store_->find(*sequence) != nullptr) return candidate{*sequence, true};
    ledger_.settle(*sequence);
  }
  return std::nullopt;
}

std::optional<consumer::candidate> consumer::next_fresh() {
  if (!listed_.empty()) return candidate{listed_.front(), false};
  for (next_ = std::max(next_, store_->first()); next_ <= store_->last(); ++next_)
    if (selects(*store_->find(next_)->content)) return candidate{next_, false};
  return std::nullopt;
}

void consumer::advance_past(std::uint64_t sequence) {
  if (!listed_.empty())
    listed_.pop_front();
  else
    next_ = sequence + 1;
  --pending_;
}

/// False: no request takes it.
bool consumer::deliver(const candidate& c) {
  const stored_message& stored = *store_->find(c.sequence);
  const message& m = *stored.content;
  const std::int64_t count = c.again ? ledger_.find(c.sequence)->deliveries + 1 : 1;
  std::string ack = "$JS.ACK." + stream_ + '.' + name_ + '.' + std::to_string(count) + '.' +
                    std::to_string(c.sequence) + '.' + std::to_string(delivered_ + 1) + '.' +
                    std::to_string(stored.time) + '.' + std::to_string(c.again ? pending_ : pending_ - 1);
  const wire_message wire{m.subject, {}, as_bytes(m.payload), &m.headers};
  const pull_request* request = pulls_.next(static_cast<std::int64_t>(m.subject.size() + ack.size() + wire_size(wire)));
  if (request == nullptr) return false;
  ++delivered_;
  if (!c.again) advance_past(c.sequence);
  if (config_.ack != ack_policy::none) ledger_.delivered(c.sequence, delivered_, host_->now() + wait_after(count));
  host_->send(request->reply, {stored.content, std::move(ack)});
  pulls_.served();
  return true;
}

} // namespace millrace::nats::detail::in_process
