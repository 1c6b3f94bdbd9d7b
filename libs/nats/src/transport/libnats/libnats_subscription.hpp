#pragma once

#include "session/signal.hpp"
#include "transport/libnats/libnats_context.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <thread>

namespace millrace::nats::detail {

/// Tells whether another message is here when one is delivered. Where none is, the client's reading thread may be in
/// the middle of what it has read: it wakes the delivering one for the first message, and where the two share a CPU
/// they would take turns message by message, which costs more than the messages do. So it is let go on first, as long
/// as that brings messages.
class burst_watch {
 public:
  /// On the delivering thread, for each message.
  [[nodiscard]] bool more_follow(natsSubscription* sub) noexcept {
    if (ahead_ > 0)
      --ahead_;
    else if (pause_left_ > 0)
      --pause_left_;
    else
      look(sub);
    return ahead_ > 0;
  }

 private:
  static constexpr unsigned longest_pause = 255; // messages
  void look(natsSubscription* sub) noexcept;

  std::uint64_t ahead_ = 0;
  unsigned pause_ = 0;
  unsigned pause_left_ = 0;
};

/// One subscription of the client and the way to its receiver. The client has one delivery thread for each, so an
/// inline handler that blocks holds up no other subscription. Alive until that thread has ended, whatever happened to
/// the port.
class libnats_route : public std::enable_shared_from_this<libnats_route> {
 public:
  libnats_route(runtime& rt, receiver& to, std::shared_ptr<libnats_context> context)
      : ended_(std::make_shared<signal>(rt)), context_(std::move(context)), to_(to) {}
  ~libnats_route();
  libnats_route(const libnats_route&) = delete;
  libnats_route& operator=(const libnats_route&) = delete;

  [[nodiscard]] result<void> subscribe(natsConnection* nc, const std::string& subject, const std::string& queue,
                                       std::uint64_t pending_limit);
  [[nodiscard]] bool is(const natsSubscription* sub) const noexcept { return sub_ == sub; }
  [[nodiscard]] natsSubscription* handle() const noexcept { return sub_; }
  [[nodiscard]] const std::shared_ptr<signal>& ended() const noexcept { return ended_; }

  /// The client said that it dropped something: tells the receiver what is new, now and while more may follow.
  void slow() noexcept;
  void report_dropped() noexcept;

  /// Ends deliveries now, discarding what is queued, and waits for the one that runs.
  void abandon() noexcept;

 private:
  void deliver(natsSubscription* sub, natsMsg* message) noexcept;
  void thread_ended() noexcept;

  std::shared_ptr<signal> ended_;
  std::shared_ptr<libnats_context> context_;
  std::shared_ptr<libnats_route> self_; ///< as long as the client's thread may call
  receiver& to_;
  natsSubscription* sub_ = nullptr;
  std::atomic<bool> watching_ = false;
  std::atomic<bool> over_ = false;
  std::atomic<std::thread::id> thread_{};
  burst_watch burst_; ///< of the delivering thread, like the next two
  bool more_ = false; ///< a message was announced and has not come
  unsigned delivered_ = 0;
  std::mutex drops_mutex_;
  std::int64_t reported_ = 0;
};

class libnats_subscription final : public wire_subscription {
 public:
  libnats_subscription(std::shared_ptr<natsConnection> connection, std::shared_ptr<libnats_route> route) noexcept
      : connection_(std::move(connection)), route_(std::move(route)) {}
  ~libnats_subscription() override;
  [[nodiscard]] task<void> stop(duration bound) override;

 private:
  std::shared_ptr<natsConnection> connection_;
  std::shared_ptr<libnats_route> route_;
};

} // namespace millrace::nats::detail
