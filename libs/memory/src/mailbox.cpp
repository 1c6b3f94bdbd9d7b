#include "mailbox.hpp"

#include "hub.hpp"

#include <algorithm>

namespace millrace::memory {

consumer* mailbox::next_consumer() noexcept {
  for (std::size_t i = 0; i < consumers.size(); ++i) {
    consumer* c = consumers[rotation++ % consumers.size()];
    if (c->room() > 0) return c;
  }
  return nullptr;
}

mailbox& hub::mailbox_for(const topic& source) {
  topic_state& t = topic_named(source.name());
  if (!source.group_name().empty()) {
    const auto found = std::ranges::find(t.mailboxes, source.group_name(), &mailbox::group);
    if (found != t.mailboxes.end()) return **found;
  }
  mailboxes_.push_back(std::make_unique<mailbox>(source.name(), source.group_name()));
  mailbox& box = *mailboxes_.back();
  t.mailboxes.push_back(&box);
  if (source.start()) enqueue_from(t, box, *source.start());
  return box;
}

result<std::unique_ptr<consumer>> hub::subscribe(const topic& source, sink& to, std::size_t window,
                                                 std::size_t workers) {
  lock held(mutex_);
  if (closed()) return fail(errc::closed, "subscribe to '" + source.name() + "'");
  if (source.start()) {
    if (auto kept = check_kept(source.name(), *source.start()); !kept) return fail(std::move(kept).error());
  }
  mailbox& box = mailbox_for(source);
  auto c = std::make_unique<consumer>(to, *runtime_, window, workers, box);
  box.consumers.push_back(c.get());
  pump(box, held);
  return c;
}

void hub::close_consumer(consumer& c) noexcept {
  const lock held(mutex_);
  c.closed = true;
  if (!c.delivering) c.quiet.set();
}

void hub::remove(std::unique_ptr<consumer> c) noexcept {
  lock held(mutex_);
  mailbox& box = *c->box;
  c->closed = true;
  const bool inside = c->delivering && c->deliverer == std::this_thread::get_id(); // its own sink destroys it
  if (!inside) handed_over_.wait(held, [&] { return !c->delivering; });
  c->gone = true;
  std::erase(box.consumers, c.get());
  if (c->in_flight > 0 || inside) leaving_.push_back(std::move(c));
  if (!box.group.empty()) return pump(box, held);
  if (!box.consumers.empty()) return;
  box.orphaned = true;
  std::erase(topic_named(box.topic).mailboxes, &box);
  incoming_batch left = std::move(box.ready);
  while (incoming* n = left.pop())
    recycle(*static_cast<node*>(n));
  if (box.held == 0) drop_mailbox(box);
}

void hub::drop_mailbox(mailbox& box) noexcept {
  if (box.pumping > 0) return; // that does it
  std::erase_if(mailboxes_, [&](const auto& b) { return b.get() == &box; });
}

/// Hands what is ready to consumers with room; the lock is released while a sink runs.
void hub::pump(mailbox& box, lock& held) noexcept {
  ++box.pumping;
  while (!box.ready.empty()) {
    consumer* c = box.next_consumer();
    if (c == nullptr) break;
    for (std::size_t n = box.consumers.size() > 1 ? 1 : c->room(); n > 0; --n) {
      auto* taken = static_cast<node*>(box.ready.pop());
      if (taken == nullptr) break;
      taken->taker = c;
      taken->settled = false;
      taken->out = true;
      taken->set_discarded(false);
      ++taken->deliveries;
      ++c->in_flight;
      if (out_++ == 0) self_ = shared_from_this();
      c->outbox.push(*taken);
    }
    hand_over(*c, held);
  }
  --box.pumping;
  if (box.orphaned && box.held == 0) drop_mailbox(box);
}

void hub::hand_over(consumer& c, lock& held) noexcept {
  if (c.delivering) return; // the thread that is at it takes the outbox as well
  c.delivering = true;
  c.deliverer = std::this_thread::get_id();
  while (!c.outbox.empty()) {
    incoming_batch batch = std::move(c.outbox);
    if (c.gone) [[unlikely]] { // destroyed by its own sink, in the call before
      held.unlock();
      batch.release_all();
    } else {
      held.unlock();
      c.target->deliver(std::move(batch), deliver_from::anywhere);
    }
    held.lock();
  }
  c.delivering = false;
  if (c.closed) [[unlikely]]
    handed_over(c);
}

/// The last hand-over of a consumer that was closed meanwhile.
void hub::handed_over(consumer& c) noexcept {
  c.quiet.set();
  handed_over_.notify_all();
  if (c.gone) forget_leaving(c);
}

const void* node::field(const field_id& id) {
  if (&id == &sequence) return &message->sequence;
  if (&id != &seeker) return nullptr;
  return &seek.emplace(*hub_, *taker);
}

namespace {

[[gnu::cold, gnu::noinline]] result<void> settled_too_late(std::string_view topic) {
  return fail(errc::closed, "settle a message of '" + std::string(topic) + "'");
}

} // namespace

result<void> node::settle(settlement wanted) noexcept {
  if (hub_->closed()) [[unlikely]]
    return settled_too_late(message->topic);
  settled = true;
  how = wanted;
  return {};
}

void node::release() noexcept { hub_->released(*this); }

node::wake_timer::wake_timer(node& self) noexcept
    : timer([](timer& t) noexcept {
        node& n = *static_cast<wake_timer&>(t).owner;
        n.hub_->delay_over(n);
      }),
      owner(&self) {}

void hub::released(node& n) noexcept {
  mutex_.lock();
  consumer& c = *n.taker;
  if (n.ended() && c.in_flight - 1 > c.refill && !c.closed) [[likely]] { // enough at hand: nothing else moves
    --c.in_flight;
    --out_;
    n.out = false;
    recycle(n);
    return mutex_.unlock();
  }
  const std::shared_ptr<hub> stays = self_; // beyond the lock
  lock held(mutex_, std::adopt_lock);
  released_last(n, held);
}

/// What the consumer has at hand runs out, or the message goes back, or the subscription is gone.
void hub::released_last(node& n, lock& held) noexcept {
  consumer& c = *n.taker;
  mailbox& box = *n.box;
  --c.in_flight;
  n.out = false;
  if (--out_ == 0) self_.reset();
  if (box.orphaned) return recycle_last(n, c);
  if (n.ended())
    recycle(n);
  else
    give_back(n);
  if (c.closed) forget_leaving(c);
  if (!box.ready.empty()) pump(box, held);
}

void hub::forget_leaving(consumer& c) noexcept {
  if (c.in_flight == 0 && !c.delivering) std::erase_if(leaving_, [&](const auto& l) { return l.get() == &c; });
}

void hub::recycle_last(node& n, consumer& c) noexcept {
  mailbox& box = *n.box;
  recycle(n);
  if (box.held == 0) drop_mailbox(box);
  forget_leaving(c);
}

/// Not at its end: back into the queue, now or after its delay.
void hub::give_back(node& n) noexcept {
  if (closed()) return recycle(n);
  if (n.settled && n.how.kind == settlement_kind::retry_after && n.how.delay > duration::zero()) return delay(n);
  if (!n.settled) --n.deliveries; // it was never handled
  n.box->ready.push(n);
}

void hub::delay(node& n) noexcept {
  n.previous_delayed = nullptr;
  n.next_delayed = delayed_;
  if (delayed_ != nullptr) delayed_->previous_delayed = &n;
  delayed_ = &n;
  runtime_->arm(n.wake, runtime_->now() + n.how.delay);
}

void hub::unlink_delayed(node& n) noexcept {
  if (n.previous_delayed != nullptr)
    n.previous_delayed->next_delayed = n.next_delayed;
  else
    delayed_ = n.next_delayed;
  if (n.next_delayed != nullptr) n.next_delayed->previous_delayed = n.previous_delayed;
}

void hub::delay_over(node& n) noexcept {
  lock held(mutex_);
  unlink_delayed(n);
  mailbox& box = *n.box;
  if (closed() || box.orphaned) {
    recycle(n);
    if (box.orphaned && box.held == 0) drop_mailbox(box);
    return;
  }
  box.ready.push(n);
  pump(box, held);
}

} // namespace millrace::memory
