#include "session/channel_table.hpp"

namespace millrace::rabbitmq::detail {

std::uint16_t channel_table::take(channel_user& user) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].how != state::free) continue;
    slots_[i] = {state::opening, &user};
    return static_cast<std::uint16_t>(i + 1);
  }
  if (slots_.size() >= most_) return 0;
  slots_.push_back({state::opening, &user});
  return static_cast<std::uint16_t>(slots_.size());
}

channel_table::slot* channel_table::find(std::uint16_t number) noexcept {
  if (number == 0 || number > slots_.size() || slots_[number - 1U].how == state::free) return nullptr;
  return &slots_[number - 1U];
}

void channel_table::close(std::uint16_t number) noexcept {
  if (slot* s = find(number); s != nullptr) *s = {state::closing, nullptr};
}

void channel_table::release(std::uint16_t number) noexcept {
  if (slot* s = find(number); s != nullptr) *s = {};
}

std::vector<channel_user*> channel_table::take_all() {
  std::vector<channel_user*> users;
  for (const slot& s : slots_) {
    if (s.user != nullptr) users.push_back(s.user);
  }
  slots_.clear();
  return users;
}

} // namespace millrace::rabbitmq::detail
