#include <millrace/receiver.hpp>

#include <utility>

namespace millrace {

receiver::~receiver() {
  port_.reset();
  waiting_.release_all();
}

task<result<delivery>> receiver::next(duration bound) {
  const time_point due = runtime_->now() + bound;
  for (;;) {
    incoming* m = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      m = waiting_.pop();
      if (m == nullptr && ended_) co_return fail(*ended_);
      if (m == nullptr) arrived_.clear();
    }
    if (m != nullptr && !m->discarded()) co_return delivery(*m);
    if (m != nullptr) { // void since a seek
      m->release();
      continue;
    }
    const bool in_time = co_await arrived_.wait_until(due);
    if (!in_time) co_return fail(errc::timeout, "no message arrived");
  }
}

task<void> receiver::stop() {
  co_await port_->stop();
  incoming_batch left;
  {
    const std::scoped_lock lock(mutex_);
    left = std::move(waiting_);
    if (!ended_) ended_ = error(errc::closed, "the receiver was stopped");
  }
  left.release_all();
  arrived_.set();
}

bool receiver::interrupted() const noexcept {
  const std::scoped_lock lock(mutex_);
  return absent_;
}

std::uint64_t receiver::dropped() const noexcept {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

std::uint64_t receiver::refused() const noexcept {
  const std::scoped_lock lock(mutex_);
  return refused_;
}

void receiver::deliver(incoming_batch batch, deliver_from /*where*/) noexcept {
  const std::scoped_lock lock(mutex_);
  waiting_.append(std::move(batch));
  arrived_.set();
}

void receiver::interrupted(error /*why*/) noexcept {
  const std::scoped_lock lock(mutex_);
  absent_ = true;
}

void receiver::resumed() noexcept {
  const std::scoped_lock lock(mutex_);
  absent_ = false;
}

void receiver::ended(error why) noexcept {
  const std::scoped_lock lock(mutex_);
  if (!ended_) ended_ = std::move(why);
  arrived_.set();
}

void receiver::dropped(std::uint64_t count) noexcept {
  const std::scoped_lock lock(mutex_);
  dropped_ += count;
}

void receiver::refused(std::uint64_t count, error /*why*/) noexcept {
  const std::scoped_lock lock(mutex_);
  refused_ += count;
}

} // namespace millrace
