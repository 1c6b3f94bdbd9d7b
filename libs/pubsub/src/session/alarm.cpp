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
    std::shared_ptr<shot> self; ///< while it is armed
    time_point at;
  };

  state(runtime& rt, std::function<void()> ring) : clock(rt), ring(std::move(ring)) {}

  static void fire(shot& fired) {
    const std::shared_ptr<shot> last = std::move(fired.self); // `cancel` may have it too
    const std::shared_ptr<state> self = fired.owner;
    bool rings = false;
    {
      const std::lock_guard lock(self->mutex);
      rings = std::erase(self->armed, last) > 0 && !self->cancelled;
    }
    if (rings) self->ring();
  }

  runtime& clock;
  const std::function<void()> ring;
  std::mutex mutex;
  std::vector<std::shared_ptr<shot>> armed;
  bool cancelled = false;
};

alarm::alarm(runtime& rt, std::function<void()> ring) : state_(std::make_shared<state>(rt, std::move(ring))) {}

alarm::~alarm() { cancel(); }

void alarm::set(time_point due) {
  const std::lock_guard lock(state_->mutex);
  if (state_->cancelled) return;
  if (std::ranges::any_of(state_->armed, [&](const auto& s) { return s->at <= due; })) return;
  const auto made = std::make_shared<state::shot>(state_, due);
  made->self = made;
  state_->armed.push_back(made);
  state_->clock.arm(*made, due);
}

void alarm::cancel() noexcept {
  std::vector<std::shared_ptr<state::shot>> armed;
  {
    const std::lock_guard lock(state_->mutex);
    state_->cancelled = true;
    armed.swap(state_->armed);
  }
  for (const auto& s : armed)
    if (state_->clock.disarm(*s)) s->self.reset(); // else it fires, and finds itself cancelled
}

} // namespace millrace::pubsub::detail
