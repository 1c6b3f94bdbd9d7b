#include "session/delivery.hpp"

#include <millrace/amqp/fields.hpp>

#include <new>

namespace millrace::amqp::detail {

void delivery::begin(std::uint32_t generation) noexcept {
  bytes_.clear();
  generation_ = generation;
  settled_ = false;
  headers_ready_ = false;
}

void delivery::finish(pn_delivery_t* d) noexcept {
  at_peer_ = d;
  message_ = read_message(bytes_);
  payload_ = as_bytes(message_.payload);
  subject_ = pool_->seat().source.address;
}

const header_map& delivery::headers() {
  if (!headers_ready_) {
    headers_.clear();
    add_headers(headers_, message_);
    headers_ready_ = true;
  }
  return headers_;
}

/// A retry with a delay is a copy, whose own count begins again: its header knows the rest.
std::uint32_t delivery::delivery_count() const noexcept {
  if (!settles() || !pool_->seat().counts.load(std::memory_order_relaxed)) return 0;
  return message_.failed_deliveries + copies_of(message_) + 1;
}

const void* delivery::field(const field_id& id) {
  if (&id == &durable) return &message_.durable;
  if (&id == &priority) return &message_.priority;
  if (&id == &first_acquirer) return &message_.first_acquirer;
  const received_properties properties(message_);
  to_ = properties.to;
  message_subject_ = properties.subject;
  if (&id == &to) return &to_;
  if (&id == &message_subject) return &message_subject_;
  return nullptr;
}

bool delivery::settles() const noexcept { return pool_->seat().source.mode == settle::at_least_once; }

result<void> delivery::settle(settlement how) noexcept {
  const consumer_seat& seat = pool_->seat();
  if (!settles()) return fail(millrace::errc::unsupported, seat.place() + " settles on receipt");
  if (how.kind == settlement_kind::retry_after) return no_delay();
  verdict said = verdict::accept;
  if (how.kind == settlement_kind::drop) said = verdict::reject;
  if (how.kind == settlement_kind::retry) said = verdict::modify;
  return hand_in(said);
}

result<void> delivery::no_delay() const {
  const consumer_seat& seat = pool_->seat();
  const std::scoped_lock lock(seat.shared->mutex);
  if (is_void(seat)) return fail(errc::closed, "settle a message of " + seat.place() + ": its link is gone");
  return fail(millrace::errc::unsupported, seat.place() + ": AMQP 1.0 has no delayed redelivery");
}

/// With the hub's mutex.
bool delivery::is_void(const consumer_seat& seat) const noexcept {
  return seat.shared->closed || !seat.open || seat.generation != generation_;
}

result<void> delivery::hand_in(verdict how) noexcept {
  try {
    return queue_up(how);
  } catch (const std::bad_alloc&) {
    return fail(errc::receive, "settle: out of memory");
  }
}

result<void> delivery::queue_up(verdict how) {
  consumer_seat& seat = pool_->seat();
  hub& to = *seat.shared;
  bool wake = false;
  {
    const std::scoped_lock lock(to.mutex);
    if (is_void(seat)) return fail(errc::closed, "settle a message of " + seat.place() + ": its link is gone");
    settled_ = true;
    if (how == verdict::modify && !seat.knows_modified) how = verdict::release;
    seat.settled.push_back({at_peer_, generation_, how});
    if (!std::exchange(seat.queued, true)) to.dirty_seats.push_back(seat.shared_from_this());
    wake = to.promise_flush();
  }
  if (wake) to.wake();
  return {};
}

/// Unsettled, it goes back to the peer now, at the latest when its link closes; of one that was settled on receipt, the
/// credit comes back.
void delivery::release() noexcept {
  if (!settled_) settled_ = hand_in(verdict::release).has_value();
  discard();
}

void delivery::discard() noexcept {
  constexpr std::size_t largest_kept = 256UL * 1024;
  if (bytes_.capacity() > largest_kept) std::string().swap(bytes_);
  pool_->give_back(*this);
}

delivery& delivery_pool::take() {
  users_.fetch_add(1, std::memory_order_relaxed);
  if (local_ == nullptr) local_ = returned_.exchange(nullptr, std::memory_order_acquire);
  if (delivery* const d = local_; d != nullptr) {
    local_ = d->free_next;
    return *d;
  }
  all_.push_back(std::make_unique<delivery>(*this));
  return *all_.back();
}

void delivery_pool::give_back(delivery& d) noexcept {
  d.free_next = returned_.load(std::memory_order_relaxed);
  while (!returned_.compare_exchange_weak(d.free_next, &d, std::memory_order_release, std::memory_order_relaxed)) {
  }
  drop_one();
}

void delivery_pool::orphan() noexcept { drop_one(); }

void delivery_pool::drop_one() noexcept {
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

} // namespace millrace::amqp::detail
