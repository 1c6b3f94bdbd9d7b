#include "transport/in_process/router.hpp"

#include "protocol/subject.hpp"

#include <algorithm>
#include <utility>

namespace millrace::nats::detail::in_process {

void router::add(subscription_ptr s) { subscriptions_.push_back(std::move(s)); }

void router::remove(const subscription& s) noexcept {
  std::erase_if(subscriptions_, [&s](const subscription_ptr& each) { return each.get() == &s; });
}

std::vector<subscription_ptr> router::remove_all(std::uint64_t connection) {
  std::vector<subscription_ptr> removed;
  std::erase_if(subscriptions_, [&](const subscription_ptr& s) {
    if (s->owner().id != connection) return false;
    removed.push_back(s);
    return true;
  });
  return removed;
}

void router::push(const subscription_ptr& s, const envelope& e) {
  s->push(e);
  if (!std::exchange(s->touched, true)) touched_.push_back(s);
}

bool router::route(std::string_view subject, const envelope& e, std::uint64_t except) {
  bool heard = false;
  members_.clear();
  for (const subscription_ptr& s : subscriptions_) {
    if (s->owner().id == except || !matches(s->subject(), subject)) continue;
    heard = true;
    if (s->queue().empty())
      push(s, e);
    else
      members_.push_back(&s);
  }
  push_to_groups(e);
  return heard;
}

void router::push_to_groups(const envelope& e) {
  while (!members_.empty()) {
    const std::string& group = (*members_.front())->queue();
    const auto in_group = [&group](const subscription_ptr* s) { return (*s)->queue() == group; };
    const auto size = static_cast<std::uint64_t>(std::ranges::count_if(members_, in_group));
    std::uint64_t skip = turns_[group]++ % size;
    for (const subscription_ptr* s : members_)
      if (in_group(s) && skip-- == 0) push(*s, e);
    std::erase_if(members_, in_group);
  }
}

void router::answer_no_responders(std::string_view reply, std::uint64_t connection) {
  for (const subscription_ptr& s : subscriptions_) {
    if (s->owner().id != connection || !s->queue().empty() || !matches(s->subject(), reply)) continue;
    return push(s, {make_status(reply, "503", {}), {}});
  }
}

bool router::has_interest(std::string_view subject) const noexcept {
  return std::ranges::any_of(subscriptions_, [&](const subscription_ptr& s) { return matches(s->subject(), subject); });
}

std::vector<subscription_ptr> router::take_touched() noexcept {
  for (const subscription_ptr& s : touched_)
    s->touched = false;
  return std::exchange(touched_, {});
}

} // namespace millrace::nats::detail::in_process
