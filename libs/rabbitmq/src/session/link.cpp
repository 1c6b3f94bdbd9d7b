#include "session/link.hpp"

namespace millrace::rabbitmq::detail {

bool link::post(command work) {
  {
    const std::scoped_lock lock(mutex);
    if (ended_) return false;
    commands_.push_back(std::move(work));
  }
  wake();
  return true;
}

std::vector<link::command> link::take_commands() {
  const std::scoped_lock lock(mutex);
  return std::exchange(commands_, {});
}

std::vector<link::command> link::end() noexcept {
  const std::scoped_lock lock(mutex);
  ended_ = true;
  closed = true;
  return std::exchange(commands_, {});
}

} // namespace millrace::rabbitmq::detail
