#include "broker/meeting_point.hpp"

#include <utility>

namespace millrace::amqp::detail {

result<meeting_point::turn> meeting_point::arrive(runtime& rt, mode how) {
  const std::scoped_lock lock(mutex_);
  if (mode_ != mode::undecided && mode_ != how) {
    return fail(errc::connect, how == mode::server ? "a copy of this broker was connected in process"
                                                   : "a copy of this broker was connected to a server");
  }
  turn next;
  if (connecting_) {
    next.wait = std::make_shared<event>(rt);
    waiting_.push_back(next.wait);
    return next;
  }
  next.live = live_.lock();
  if (next.live && next.live->is_over()) next.live = nullptr;
  if (!next.live) {
    connecting_ = true;
    mode_ = how;
  }
  return next;
}

void meeting_point::leave(const std::shared_ptr<connection>& live) {
  std::vector<std::shared_ptr<event>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    connecting_ = false;
    live_ = live;
    if (!live) mode_ = mode::undecided;
    waiting = std::exchange(waiting_, {});
  }
  for (const auto& w : waiting)
    w->set();
}

} // namespace millrace::amqp::detail
