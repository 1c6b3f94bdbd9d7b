#include "session/alarm.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace millrace::pubsub::detail {

struct alarm::state {
  /// One armed timer.
  struct shot : timer {
    shot(std::shared_ptr<state> owner, time_point at)
        : timer([](timer& t) noexcept { state::fire(static_cast<shot&>(t)); }), owner(std::move(owner)), at(at) {}
    std::shared_ptr<state> owner;
    time_point at;
  };

  state(runtime& rt, std::function<void()> ring) : clock(rt), ring(std::move(ring)) {}

  static void fire(shot& fired) {
    const std::unique_ptr<shot> last(&fired);
    const std::shared_ptr<state> self = fired.owner;
    bool rings = false;
    {
      const std::lock_guard lock(self->mutex);
      rings = std::erase(self->armed, &fired) > 0 && !self->cancelled;
    }
    if (rings) self->ring();
  }

  runtime& clock;
  const std::function<void()> ring;
  std::mutex mutex;
  std::vector<shot*> armed;
  bool cancelled = false;
};

alarm::alarm(runtime& rt, std::function<void()> ring) : state_(std::make_shared<state>(rt, std::move(ring))) {}

alarm::~alarm() { cancel(); }

void alarm::set(time_point due) {
  const std::lock_guard lock(state_->mutex);
  if (state_->cancelled) return;
  if (std::ranges::any_of(state_->armed, [&](const state::shot* s) { return s->at <= due; })) return;
  auto* const made = new state::shot(state_, due); // freed when it fired, or by cancel
  state_->armed.push_back(made);
  state_->clock.arm(*made, due);
}

void alarm::cancel() noexcept {
  std::vector<state::shot*> armed;
  {
    const std::lock_guard lock(state_->mutex);
    state_->cancelled = true;
    armed.swap(state_->armed);
  }
  for (state::shot* s : armed)
    if (state_->clock.disarm(*s)) delete s; // else it fires, finds itself cancelled and frees itself
}

} // namespace millrace::pubsub::detail
