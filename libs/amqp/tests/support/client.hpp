#pragma once

#include <millrace/amqp.hpp>
#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>

namespace millrace::amqp::testing {

using namespace std::chrono_literals;

/// A name that no other test uses.
inline std::string fresh_name(const std::string& prefix) {
  static std::random_device random;
  return "t." + prefix + "." + std::to_string(random()) + std::to_string(random());
}

/// Keeps deliveries and what the subscription was told; a test waits for both.
class waiting_sink final : public sink {
 public:
  ~waiting_sink() { held_.release_all(); }
  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override {
    const std::scoped_lock lock(mutex_);
    held_.append(std::move(batch));
    changed_.notify_all();
  }
  void interrupted(error why) noexcept override { tell("interrupted: " + why.message()); }
  void resumed() noexcept override { tell("resumed"); }
  void ended(error why) noexcept override { tell("ended: " + why.message()); }
  void dropped(std::uint64_t /*count*/) noexcept override {}

  /// The next delivery, or null after `bound`.
  incoming* next(std::chrono::milliseconds bound = 20s) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, bound, [this] { return !held_.empty(); });
    return held_.pop();
  }
  /// Waits until something that begins so was told, and answers it.
  std::optional<std::string> told(const std::string& beginning, std::chrono::milliseconds bound = 20s) {
    std::unique_lock lock(mutex_);
    std::optional<std::string> found;
    changed_.wait_for(lock, bound, [&] {
      for (const auto& text : told_)
        if (text.starts_with(beginning)) found = text;
      return found.has_value();
    });
    return found;
  }
  std::size_t count_told() {
    const std::scoped_lock lock(mutex_);
    return told_.size();
  }

 private:
  void tell(std::string what) {
    const std::scoped_lock lock(mutex_);
    told_.push_back(std::move(what));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  incoming_batch held_;
  std::deque<std::string> told_;
};

/// Settles and releases; answers whether the settlement was taken.
inline bool settle(incoming* m, settlement_kind kind = settlement_kind::ack) {
  if (m == nullptr) return false;
  const bool taken = m->settle({kind, {}}).has_value();
  m->release();
  return taken;
}

inline std::string text_of(const incoming* m) {
  return m == nullptr ? "(nothing)" : std::string(as_text(m->payload()));
}

/// The text of a message that is acknowledged with it.
inline std::string taken_text(incoming* m) {
  std::string text = text_of(m);
  (void)settle(m);
  return text;
}

/// A publish that a test awaits or leaves under way.
struct sent_message {
  sent_message(publish_port& to, runtime& clock, const outgoing& message) : op(&clock) { to.publish(message, op); }
  publish_operation op;
  struct awaiter {
    publish_operation* op;
    bool await_ready() const noexcept { return op->done(); }
    bool await_suspend(std::coroutine_handle<> waiter) noexcept { return op->wait(waiter); }
    result<receipt> await_resume() noexcept { return op->take(); }
  };
  result<receipt> answer() {
    return sync_wait([](sent_message& self) -> task<result<receipt>> {
      awaiter one{&self.op};
      auto said = co_await one;
      co_return said;
    }(*this));
  }
};

/// A connected broker with a runtime of its own.
class client {
 public:
  explicit client(broker b) : connected_(sync_wait(std::move(b).connect(rt))) {}
  ~client() {
    if (connected_) (void)shutdown();
  }

  [[nodiscard]] bool connected() const noexcept { return connected_.has_value(); }
  [[nodiscard]] const error& failure() const { return connected_.error(); }
  [[nodiscard]] connected_broker& operator*() { return *connected_; }

  template <class Source> open_result open(const Source& source, sink& to) {
    return sync_wait(connected_->open(source, to, open_options()));
  }
  template <class Policy> std::shared_ptr<publish_port> pair(const Policy& policy) { return *connected_->pair(policy); }
  result<receipt> send(publish_port& to, const std::string& destination, const std::string& text,
                       const header_map* headers = nullptr, const message_options* options = nullptr) {
    sent_message one(to, rt, {destination, as_bytes(text), headers, options});
    return one.answer();
  }
  result<closed_broker> shutdown() {
    connected_broker closing = std::move(*connected_);
    connected_ = fail(errc::closed, "the test shut it down");
    return sync_wait(std::move(closing).shutdown());
  }

  pool_runtime rt{2};

 private:
  result<connected_broker> connected_;
};

} // namespace millrace::amqp::testing
