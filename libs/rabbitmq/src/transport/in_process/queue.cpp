#include "transport/in_process/queue.hpp"

#include "transport/in_process/ready_queue.hpp"
#include "transport/in_process/stream_log.hpp"

#include <algorithm>

namespace millrace::rabbitmq::detail::in_process {

queue::queue(queue_host& host, queue_settings settings, std::uint64_t owner)
    : host_(&host), settings_(std::move(settings)), owner_(owner), last_use_(host.now()) {}

answer<void> queue::add(consumer_ptr c) {
  if (settings_.kind == queue_kind::quorum) c->exclusive = false; // the server does not look at it there
  const bool taken = std::ranges::any_of(consumers_, [](const consumer_ptr& other) { return other->exclusive; });
  if (taken || (c->exclusive && !consumers_.empty())) return refuse(403, settings_.described() + " in exclusive use");
  c->of = this;
  consumers_.push_back(std::move(c));
  host_->touched(*this);
  return {};
}

bool queue::remove(const consumer& c) {
  std::erase_if(consumers_, [&](const consumer_ptr& mine) { return mine.get() == &c; });
  used();
  host_->touched(*this);
  return !settings_.auto_delete || !consumers_.empty();
}

void queue::used() { last_use_ = host_->now(); }

bool queue::unused_for_too_long() const {
  return settings_.expires && consumers_.empty() && host_->now() >= last_use_ + *settings_.expires;
}

std::optional<time_point> queue::next_due() const {
  if (!settings_.expires || !consumers_.empty()) return std::nullopt;
  return last_use_ + *settings_.expires;
}

/// The first with room among those of the highest priority; the one that was served went to the end.
consumer_ptr queue::peek_turn() const noexcept {
  consumer_ptr best;
  for (const consumer_ptr& c : consumers_) {
    if (c->has_room() && (!best || c->priority > best->priority)) best = c;
    if (settings_.single_active) break;
  }
  return best;
}

void queue::hand_over(const consumer_ptr& to, queued m) {
  const consumer_ptr c = to; // NOLINT(performance-unnecessary-copy-initialization): `to` is in what is rotated
  if (!settings_.single_active) {
    const auto at = std::ranges::find(consumers_, c);
    if (at != consumers_.end()) std::rotate(at, at + 1, consumers_.end());
  }
  if (!c->no_ack) ++c->held;
  c->owner->deliver(c, *this, std::move(m));
}

queue_ptr make_queue(queue_host& host, queue_settings settings, std::uint64_t owner) {
  if (settings.kind == queue_kind::stream) return std::make_shared<stream_log>(host, std::move(settings), owner);
  return std::make_shared<ready_queue>(host, std::move(settings), owner);
}

} // namespace millrace::rabbitmq::detail::in_process
