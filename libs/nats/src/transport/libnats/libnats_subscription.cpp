#include "transport/libnats/libnats_subscription.hpp"

#include "transport/libnats/libnats_message.hpp"
#include "transport/libnats/libnats_status.hpp"

#include <sched.h>

#include <algorithm>

namespace millrace::nats::detail {

namespace {
constexpr duration offline_bound = std::chrono::milliseconds(100);
constexpr unsigned look_every = 64; // messages, while the client drops
constexpr std::uint64_t bytes_per_pending_message = 1024;
} // namespace

void burst_watch::look(natsSubscription* sub) noexcept {
  const auto queued = [sub] {
    std::uint64_t messages = 0;
    return natsSubscription_QueuedMsgs(sub, &messages) == NATS_OK ? messages : 0;
  };
  ahead_ = queued();
  if (ahead_ != 0) return;
  sched_yield();
  ahead_ = queued();
  pause_ = ahead_ != 0 ? 0 : std::min(2 * pause_ + 1, longest_pause);
  pause_left_ = pause_;
}

libnats_route::~libnats_route() {
  if (sub_ == nullptr) return;
  // After a drain the server has answered behind its last message: the client's reading thread is done with it.
  if (natsSubscription_DrainCompletionStatus(sub_) == NATS_OK)
    natsSubscription_Destroy(sub_);
  else
    context_->bury(sub_);
}

result<void> libnats_route::subscribe(natsConnection* nc, const std::string& subject, const std::string& queue,
                                      std::uint64_t pending_limit) {
  const auto on_message = [](natsConnection*, natsSubscription* sub, natsMsg* message, void* self) noexcept {
    static_cast<libnats_route*>(self)->deliver(sub, message);
  };
  self_ = shared_from_this();
  natsStatus status = queue.empty()
                          ? natsConnection_Subscribe(&sub_, nc, subject.c_str(), on_message, this)
                          : natsConnection_QueueSubscribe(&sub_, nc, subject.c_str(), queue.c_str(), on_message, this);
  if (status == NATS_OK) {
    status = natsSubscription_SetOnCompleteCB(
        sub_, [](void* self) noexcept { static_cast<libnats_route*>(self)->thread_ended(); }, this);
    const auto messages = static_cast<int>(std::min<std::uint64_t>(pending_limit, 1U << 30));
    const auto bytes =
        static_cast<int>(std::clamp<std::uint64_t>(pending_limit * bytes_per_pending_message, 1U << 20, 1U << 30));
    (void)natsSubscription_SetPendingLimits(sub_, messages, bytes);
  }
  if (status == NATS_OK) return {};
  self_.reset();
  return fail(status_error(status, errc::subscribe, "subject '" + subject + "'"));
}

void libnats_route::deliver(natsSubscription* sub, natsMsg* message) noexcept {
  if (delivered_ == 0) [[unlikely]]
    thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (watching_.load(std::memory_order_relaxed) && delivered_ % look_every == 0) [[unlikely]]
    report_dropped();
  ++delivered_;
  more_ = burst_.more_follow(sub);
  to_.on_message(make_received(message), more_);
}

void libnats_route::slow() noexcept {
  watching_.store(true, std::memory_order_relaxed);
  report_dropped();
}

void libnats_route::report_dropped() noexcept {
  const std::lock_guard lock(drops_mutex_);
  std::int64_t total = 0;
  if (natsSubscription_GetDropped(sub_, &total) != NATS_OK || total <= reported_) return;
  const auto fresh = static_cast<std::uint64_t>(total - reported_);
  reported_ = total;
  to_.on_dropped(fresh);
}

void libnats_route::thread_ended() noexcept {
  const std::shared_ptr<libnats_route> self = std::move(self_);
  if (more_) to_.on_cut_short();
  over_.store(true);
  over_.notify_all();
  ended_->set();
}

void libnats_route::abandon() noexcept {
  if (over_.load()) return;
  (void)natsSubscription_Unsubscribe(sub_); // fails where the connection is closed: then the thread ends anyway
  if (thread_.load(std::memory_order_relaxed) == std::this_thread::get_id())
    more_ = false; // a handler ends its own subscription: the receiver is gone when this thread ends
  else
    over_.wait(false);
}

libnats_subscription::~libnats_subscription() {
  if (route_ != nullptr) route_->abandon();
}

task<void> libnats_subscription::stop(duration bound) {
  const std::shared_ptr<libnats_route> route = route_;
  const std::shared_ptr<signal> ended = route->ended();
  // Refused where the connection is closed or reconnecting without end: nothing more comes then.
  // While it is disconnected there is nothing to wait for but what the client holds.
  if (natsConnection_Status(connection_.get()) != NATS_CONN_STATUS_CONNECTED) bound = std::min(bound, offline_bound);
  const natsStatus status = natsSubscription_DrainTimeout(route->handle(), to_milliseconds(bound));
  bool over = status == NATS_OK;
  if (over) over = co_await ended->wait(bound);
  if (!over) (void)natsSubscription_Unsubscribe(route->handle());
  if (!over) over = co_await ended->wait(bound);
  if (over) route->report_dropped();
}

} // namespace millrace::nats::detail
