#include "session/leases.hpp"

#include "session/connection.hpp"
#include "session/puller.hpp"

#include <millrace/pubsub/errors.hpp>

#include <algorithm>
#include <limits>

namespace millrace::pubsub::detail {
namespace {

using state = pull_delivery::state;

constexpr std::chrono::seconds longest_deadline{600}; // of ModifyAckDeadline

} // namespace

leases::leases(std::shared_ptr<connection> shared, const pubsub::subscription& source, std::string full_name,
               std::uint32_t cap)
    : shared_(std::move(shared)), name_(source.name()), full_name_(std::move(full_name)), cap_(cap),
      extension_(source.ack_extension()), max_lease_(source.max_lease()),
      settlements_(std::make_shared<settlements>(shared_, full_name_, source.max_messages())),
      alarm_(shared_->clock(), [this] { tick(); }) {}

pull_block& leases::take_block() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    blocks_.push_back(std::make_unique<pull_block>());
    return *blocks_.back();
  }
  pull_block& block = *free_.back();
  free_.pop_back();
  return block;
}

void leases::keep(pull_block& block) {
  const std::lock_guard lock(mutex_);
  block.received = shared_->clock().now();
  block.expires = block.received + extension_;
  block.begin_leases(static_cast<std::uint32_t>(block.size()));
  block.hold(static_cast<std::uint32_t>(block.size()) + 1);
  block.kept = true;
  block.previous_kept = nullptr;
  block.next_kept = first_kept_;
  if (first_kept_ != nullptr) first_kept_->previous_kept = &block;
  first_kept_ = &block;
  alarm_.set(block.expires - margin());
}

void leases::send_back(pull_block& block) noexcept {
  for (pull_delivery& d : block)
    nack(d);
  for (std::size_t n = block.size(); n > 0; --n)
    drop(block);
}

void leases::give_back(pull_block& block) noexcept {
  const std::shared_ptr<leases> self = block.empty(); // this goes with the last block that holds it
  const std::lock_guard lock(mutex_);
  free_.push_back(&block);
}

void leases::unlink(pull_block& block) noexcept {
  block.kept = false;
  (block.previous_kept != nullptr ? block.previous_kept->next_kept : first_kept_) = block.next_kept;
  if (block.next_kept != nullptr) block.next_kept->previous_kept = block.previous_kept;
}

void leases::drop(pull_block& block) noexcept {
  if (block.drop()) give_back(block);
}

bool leases::settled(pull_delivery& d) noexcept {
  if (!d.become(state::settled)) return false;
  pull_block& block = d.block();
  if (!block.settled_one()) return true;
  {
    const std::lock_guard lock(mutex_);
    if (!block.kept) return true;
    unlink(block);
  }
  drop(block); // never the last hold: the delivery has one of its own
  return true;
}

/// How long before the deadline the next extension goes out.
duration leases::margin() const noexcept {
  return std::min(duration(extension_) / 4, duration(std::chrono::seconds(10)));
}

error leases::closed_error() const {
  return error(make_error_code(errc::not_connected), "subscription '" + full_name_ + "'");
}

result<void> leases::settle(pull_delivery& d, settlement how) noexcept {
  if (shared_->closed()) return fail(closed_error());
  const bool at_cap = cap_ != 0 && d.delivery_count() >= cap_;
  auto told = d.take_confirmation();
  switch (how.kind) {
  case settlement_kind::retry_after:
    if (how.delay > duration::zero()) return delay(d, how.delay, told);
    nack(d, std::move(told));
    return {};
  case settlement_kind::retry:
    nack(d, std::move(told));
    return {};
  case settlement_kind::drop:
    // At the declared limit it is the refusal that carries the message to the dead-letter topic (pubsub 5).
    if (at_cap) {
      nack(d, std::move(told));
      return {};
    }
    break;
  case settlement_kind::ack:
    break;
  }
  if (!settled(d)) return fail(closed_error());
  settlements_->acknowledge(d.ack_id(), std::move(told));
  return {};
}

std::shared_ptr<confirmation> leases::make_confirmation() const {
  if (!exactly_once_.load(std::memory_order_relaxed)) return nullptr;
  return std::make_shared<confirmation>(shared_->clock());
}

void leases::nack(pull_delivery& d, told_later told) noexcept {
  if (settled(d))
    settlements_->modify(d.ack_id(), 0, std::move(told));
  else if (told != nullptr)
    told->confirm(); // somebody else has sent it back
}

result<void> leases::delay(pull_delivery& d, duration by, const told_later& told) noexcept {
  if (by > max_lease_) {
    const auto seconds = [](duration t) { return std::to_string(std::chrono::ceil<std::chrono::seconds>(t).count()); };
    return fail(errc::delay_beyond_lease, "subscription '" + full_name_ + "': retry_after of " + seconds(by) +
                                              " s, and a lease is kept for " + seconds(max_lease_) + " s");
  }
  const std::lock_guard lock(mutex_);
  if (!d.become(state::delayed)) return fail(closed_error());
  if (told != nullptr) told->confirm(); // it is held here: nobody can refuse that
  d.block().hold(1);
  const time_point due = shared_->clock().now() + by;
  delayed_.emplace(due, &d);
  alarm_.set(due);
  return {};
}

void leases::tell(const std::shared_ptr<puller>& reader) {
  reader_ = reader;
  settlements_->tell([to = reader_](std::uint64_t count, const error& why) {
    const std::shared_ptr<puller> told = to.lock();
    return told != nullptr && told->on_refused(count, why);
  });
}

void leases::release(pull_delivery& d) noexcept {
  if (d.now() == state::open) {
    if (shared_->closed())
      settled(d);
    else
      nack(d);
  }
  const std::shared_ptr<puller> told = reader_.lock();
  pull_block& block = d.block();
  drop(block);
  if (told != nullptr) told->on_released();
}

void leases::tick() noexcept {
  const std::shared_ptr<leases> self = weak_from_this().lock();
  if (self == nullptr || shared_->closed()) return;
  const time_point now = shared_->clock().now();
  extend_due(now);
  nack_due(now);
  set_alarm();
}

/// Extends what must be extended, and lets go of what was kept as long as it may be.
void leases::extend_due(time_point now) {
  std::vector<pull_block*> over;
  {
    const std::lock_guard lock(mutex_);
    for (pull_block* block = first_kept_; block != nullptr;) {
      pull_block* const next = block->next_kept;
      if (now >= block->received + max_lease_) {
        unlink(*block);
        over.push_back(block);
      } else if (now >= block->expires - margin()) {
        extend(*block);
      }
      block = next;
    }
  }
  for (pull_block* block : over)
    drop(*block);
}

void leases::extend(pull_block& block) {
  for (const pull_delivery& d : block)
    if (d.now() != state::settled) settlements_->modify(d.ack_id(), static_cast<std::uint32_t>(extension_.count()));
  block.expires = shared_->clock().now() + extension_;
}

/// Delayed retries whose time came go back at once.
void leases::nack_due(time_point now) {
  for (;;) {
    pull_delivery* d = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (delayed_.empty() || delayed_.begin()->first > now) return;
      d = delayed_.begin()->second;
      delayed_.erase(delayed_.begin());
    }
    nack(*d);
    drop(d->block());
  }
}

void leases::set_alarm() {
  const std::lock_guard lock(mutex_);
  if (!delayed_.empty()) alarm_.set(delayed_.begin()->first);
  time_point next = time_point::max();
  for (const pull_block* block = first_kept_; block != nullptr; block = block->next_kept)
    next = std::min(next, std::min(block->expires - margin(), block->received + max_lease_));
  if (next != time_point::max()) alarm_.set(next);
}

/// A delay that outlives this process becomes the message's deadline: it comes back when the delay is over.
void leases::give_delays_to_the_service(time_point now) {
  std::multimap<time_point, pull_delivery*> delayed;
  {
    const std::lock_guard lock(mutex_);
    delayed.swap(delayed_);
  }
  for (const auto& [due, d] : delayed) {
    const auto left =
        std::clamp(std::chrono::ceil<std::chrono::seconds>(due - now), std::chrono::seconds(0), longest_deadline);
    if (settled(*d)) settlements_->modify(d->ack_id(), static_cast<std::uint32_t>(left.count()));
    drop(d->block());
  }
}

/// What handlers still hold comes back to whoever reads next, at once and not when its lease runs out.
void leases::nack_held() {
  std::vector<pull_block*> held;
  {
    const std::lock_guard lock(mutex_);
    for (pull_block* block = first_kept_; block != nullptr; block = block->next_kept) {
      block->hold(1);
      held.push_back(block);
    }
  }
  for (pull_block* block : held) {
    for (pull_delivery& d : *block)
      nack(d);
    drop(*block);
  }
}

task<bool> leases::flush(time_point due) {
  const auto self = shared_from_this();
  give_delays_to_the_service(shared_->clock().now());
  nack_held();
  const bool flushed = co_await settlements_->drain(due);
  co_return flushed;
}

void leases::close() noexcept {
  closed_.store(true, std::memory_order_release);
  alarm_.cancel();
  settlements_->close();
  std::vector<pull_block*> held;
  {
    const std::lock_guard lock(mutex_);
    while (first_kept_ != nullptr) {
      held.push_back(first_kept_);
      unlink(*first_kept_);
    }
    for (const auto& [due, d] : delayed_)
      held.push_back(&d->block());
    delayed_.clear();
  }
  for (pull_block* block : held)
    drop(*block);
}

} // namespace millrace::pubsub::detail
