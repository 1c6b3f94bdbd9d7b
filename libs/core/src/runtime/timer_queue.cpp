#include <millrace/timer_queue.hpp>

#include <algorithm>
#include <utility>

namespace millrace {

bool timer_queue::before(const timer& a, const timer& b) noexcept {
  return a.due_ != b.due_ ? a.due_ < b.due_ : a.order_ < b.order_;
}

void timer_queue::place(std::size_t slot, timer* t) noexcept {
  heap_[slot] = t;
  t->slot_ = slot;
}

void timer_queue::sift_up(std::size_t slot) noexcept {
  timer* t = heap_[slot];
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    if (!before(*t, *heap_[parent])) break;
    place(slot, heap_[parent]);
    slot = parent;
  }
  place(slot, t);
}

void timer_queue::sift_down(std::size_t slot) noexcept {
  timer* t = heap_[slot];
  for (;;) {
    std::size_t child = 2 * slot + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) ++child;
    if (!before(*heap_[child], *t)) break;
    place(slot, heap_[child]);
    slot = child;
  }
  place(slot, t);
}

void timer_queue::arm(timer& t, time_point due) {
  t.due_ = due;
  t.order_ = order_++;
  t.cancelled_ = false;
  heap_.push_back(&t);
  t.slot_ = heap_.size() - 1;
  sift_up(t.slot_);
}

bool timer_queue::disarm(timer& t) noexcept {
  if (t.slot_ == timer::unarmed) return false;
  const std::size_t slot = std::exchange(t.slot_, timer::unarmed);
  timer* last = heap_.back();
  heap_.pop_back();
  if (last == &t) return true;
  place(slot, last);
  sift_up(slot);
  sift_down(last->slot_);
  return true;
}

std::optional<time_point> timer_queue::next_due() const noexcept {
  if (heap_.empty()) return std::nullopt;
  return heap_.front()->due_;
}

timer* timer_queue::take_due(time_point now) noexcept {
  if (heap_.empty() || heap_.front()->due_ > now) return nullptr;
  timer* t = heap_.front();
  disarm(*t);
  return t;
}

timer* timer_queue::take_cancelled() noexcept {
  const auto found = std::ranges::find_if(heap_, [](const timer* t) { return t->cancellable(); });
  if (found == heap_.end()) return nullptr;
  timer* t = *found;
  disarm(*t);
  t->cancelled_ = true;
  return t;
}

void timer_queue::mark_cancelled(timer& t) noexcept { t.cancelled_ = true; }

} // namespace millrace
