#include "transport/in_process/ready_queue.hpp"

#include <algorithm>

namespace millrace::rabbitmq::detail::in_process {

ready_queue::rank ready_queue::rank_of(const queued& m) const noexcept {
  return {-std::min(m.what->priority, settings().max_priority), m.position};
}

bool ready_queue::is_full(std::size_t more, std::size_t bytes) const noexcept {
  const auto over = [](const std::optional<std::int64_t>& limit, std::size_t n) {
    return limit && n > static_cast<std::size_t>(*limit);
  };
  return over(settings().max_length, ready_.size() + more) || over(settings().max_bytes, bytes_ + bytes);
}

void ready_queue::insert(queued m) {
  bytes_ += m.what->size();
  const rank at = rank_of(m);
  ready_.emplace(at, std::move(m));
  host().touched(*this);
}

queued ready_queue::take_first() {
  queued m = std::move(ready_.begin()->second);
  ready_.erase(ready_.begin());
  bytes_ -= m.what->size();
  return m;
}

void ready_queue::bury_first(std::string_view reason) {
  const queued m = take_first();
  host().dead_letter(*this, m, reason);
}

bool ready_queue::enqueue(const message_ptr& m) {
  queued arrived;
  arrived.what = m;
  arrived.position = ++last_;
  std::optional<duration> ttl = m->expiration;
  if (settings().message_ttl) ttl = std::min(ttl.value_or(*settings().message_ttl), *settings().message_ttl);
  if (ttl) arrived.due = host().now() + *ttl;
  const bool handed_on = ready_.empty() && peek_turn() != nullptr;
  if (settings().when_full != overflow::drop_head && !handed_on && is_full(1, m->size())) {
    if (settings().when_full == overflow::reject_publish_dlx) host().dead_letter(*this, arrived, "maxlen");
    return false;
  }
  insert(std::move(arrived));
  return true;
}

/// A quorum queue counts what comes back, and buries what came back too often.
void ready_queue::give_back(queued m) {
  m.redelivered = true;
  if (settings().kind == queue_kind::quorum) {
    ++m.returns;
    if (settings().delivery_limit && m.returns > *settings().delivery_limit)
      return host().dead_letter(*this, m, "delivery_limit");
  }
  insert(std::move(m)); // to where it was
}

answer<void> ready_queue::settle(queued m, ending how) {
  if (is_deleted()) return {};
  if (how == ending::requeue)
    give_back(std::move(m));
  else if (how == ending::reject)
    host().dead_letter(*this, m, "rejected");
  host().touched(*this); // its consumer has room
  return {};
}

void ready_queue::work() {
  const time_point now = host().now();
  while (!ready_.empty()) {
    const queued& first = ready_.begin()->second;
    const consumer_ptr turn = peek_turn();
    const bool over = first.due && *first.due <= now;
    if (over && (!turn || *first.due < now))
      bury_first("expired");
    else if (turn)
      hand_over(turn, take_first());
    else
      break;
  }
  while (settings().when_full == overflow::drop_head && !ready_.empty() && is_full(0, 0))
    bury_first("maxlen");
}

/// Expiry is acted on at the head only.
std::optional<time_point> ready_queue::next_due() const {
  std::optional<time_point> due = queue::next_due();
  if (ready_.empty()) return due;
  const std::optional<time_point>& head = ready_.begin()->second.due;
  if (head && (!due || *head < *due)) due = head;
  return due;
}

} // namespace millrace::rabbitmq::detail::in_process
