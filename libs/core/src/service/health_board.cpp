#include "service/health_board.hpp"

#include <utility>

namespace millrace {

void detail::health_board::set_state(service_state state, std::string problem) {
  const std::scoped_lock lock(mutex_);
  if (state_ == service_state::failed) return; // the first failure stays
  state_ = state;
  if (!problem.empty()) problem_ = std::move(problem);
}

std::size_t detail::health_board::add(std::string name) {
  const std::scoped_lock lock(mutex_);
  subscriptions_.push_back({std::move(name), false, {}, 0, 0});
  ++started_;
  return subscriptions_.size() - 1;
}

void detail::health_board::set_active(std::size_t slot, bool active, std::string why) {
  const std::scoped_lock lock(mutex_);
  subscription& s = subscriptions_[slot];
  if (s.active != active) active ? ++active_ : --active_;
  s.active = active;
  s.why = std::move(why);
}

void detail::health_board::add_dropped(std::size_t slot, std::uint64_t count) {
  const std::scoped_lock lock(mutex_);
  subscriptions_[slot].dropped += count;
}

void detail::health_board::add_refused(std::size_t slot, std::uint64_t count) {
  const std::scoped_lock lock(mutex_);
  subscriptions_[slot].refused += count;
}

health_report detail::health_board::read() const {
  const std::scoped_lock lock(mutex_);
  health_report report;
  report.state = state_;
  report.subscriptions = subscriptions_.size();
  if (!problem_.empty()) report.problems.push_back(problem_);
  for (const subscription& s : subscriptions_) {
    if (s.active)
      ++report.active;
    else if (!s.why.empty())
      report.problems.push_back("subscription '" + s.name + "': " + s.why);
    if (s.dropped > 0) {
      report.problems.push_back("subscription '" + s.name + "': " + std::to_string(s.dropped) + " messages dropped");
    }
    if (s.refused > 0) {
      report.problems.push_back("subscription '" + s.name +
                                "': settlements that were refused later: " + std::to_string(s.refused));
    }
    report.dropped += s.dropped;
    report.refused += s.refused;
  }
  return report;
}

health_report health_probe::read() const { return board_->read(); }
bool health_probe::healthy() const noexcept { return board_->healthy(); }

} // namespace millrace
