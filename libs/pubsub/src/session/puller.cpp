#include "session/puller.hpp"

#include "protocol/names.hpp"
#include "session/call.hpp"
#include "session/connection.hpp"

#include <millrace/log.hpp>

#include <algorithm>
#include <random>

namespace millrace::pubsub::detail {
namespace {

constexpr unsigned most_denials = 3;
constexpr duration goodbye = std::chrono::seconds(1);

std::string random_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i)
    id += std::to_string(random()) + (i < 3 ? "-" : "");
  return id;
}

} // namespace

class puller::listener final : public stream_events {
 public:
  listener(std::weak_ptr<puller> to, std::uint64_t number) noexcept : to_(std::move(to)), number_(number) {}
  void on_sent() noexcept override {
    if (const auto p = to_.lock()) p->on_sent(number_);
  }
  void on_opened() noexcept override {
    if (const auto p = to_.lock()) p->on_opened(number_);
  }
  void on_response(shared_bytes response) noexcept override {
    if (const auto p = to_.lock()) p->on_response(number_, std::move(response));
  }
  void on_closed(call_status why) noexcept override {
    if (const auto p = to_.lock()) p->on_closed(number_, why);
  }

 private:
  const std::weak_ptr<puller> to_;
  const std::uint64_t number_;
};

puller::puller(std::shared_ptr<connection> shared, pubsub::subscription source, std::shared_ptr<leases> held, sink& to)
    : shared_(std::move(shared)), source_(std::move(source)), leases_(std::move(held)), sink_(to),
      client_id_(random_id()), routing_("subscription=" + percent_encoded(leases_->full_name())),
      window_(static_cast<std::size_t>(source_.max_messages())), decided_(shared_->clock()), quiet_(shared_->clock()),
      gone_(shared_->clock()), alarm_(shared_->clock(), [this] { tick(); }) {
  quiet_.set();
  gone_.set();
}

puller::~puller() { ready_.release_all(); }

std::string puller::first_request() const {
  std::string out;
  put_bytes(out, 1, leases_->full_name());
  put_number(out, 5, static_cast<std::uint64_t>(source_.ack_extension().count()));
  put_bytes(out, 6, client_id_);
  put_number(out, 7, static_cast<std::uint64_t>(source_.max_messages()));
  put_number(out, 8, static_cast<std::uint64_t>(source_.max_bytes()));
  return out;
}

task<result<void>> puller::start(bool fresh) {
  const auto self = shared_from_this();
  const time_point due = shared_->clock().now() + shared_->options().open_timeout;
  {
    lock held(mutex_);
    fresh_ = fresh;
    open_stream(held);
  }
  const bool decided = co_await decided_.wait_until(due);
  {
    const lock held(mutex_);
    started_ = true;
    fresh_ = false;
    if (decided && !refused_) co_return result<void>{};
    if (!refused_) refused_ = std::move(last_failure_);
    if (!refused_) refused_.emplace(make_error_code(errc::receive), leases_->full_name() + ": no answer in time");
  }
  halt(false);
  co_return fail(std::move(*refused_));
}

void puller::open_stream(lock& held) {
  ++number_;
  phase_ = phase::opening;
  sent_ = false;
  const runtime& clock = shared_->clock();
  quiet_at_ = clock.now() + shared_->options().quiet_stream;
  keepalive_at_ = clock.now() + shared_->options().stream_keepalive;
  const auto events = std::make_shared<listener>(weak_from_this(), number_);
  const std::uint64_t mine = number_;
  held.unlock();
  std::shared_ptr<pull_stream> opened = shared_->wire().open(first_request(), routing_, events);
  held.lock();
  if (mine != number_ || phase_ == phase::stopped || phase_ == phase::ended) return opened->cancel();
  if (phase_ == phase::waiting) return; // it is closed already
  stream_ = std::move(opened);
  gone_.clear();
  paused_ = false;
  alarm_.set(quiet_at_);
  stream_->read();
}

void puller::on_sent(std::uint64_t stream) noexcept {
  const lock held(mutex_);
  if (stream != number_ || phase_ != phase::opening) return;
  sent_ = true;
  quiet_at_ = shared_->clock().now() + shared_->options().quiet_stream;
  alarm_.set(quiet_at_);
}

void puller::on_opened(std::uint64_t stream) noexcept {
  lock held(mutex_);
  if (stream == number_) proved_live(held);
}

/// The service accepted the stream: by saying so, by a response, or by not refusing for a while what was sent to it.
void puller::proved_live(lock& held) {
  if (phase_ != phase::opening) return;
  phase_ = phase::live;
  failures_ = 0;
  denied_ = 0;
  decided_.set();
  if (!std::exchange(interrupted_, false)) return;
  begin_call(held);
  sink_.resumed();
  end_call(held);
}

/// Calls of the sink run without the lock; a stop waits for them.
void puller::begin_call(lock& held) {
  ++calls_;
  quiet_.clear();
  held.unlock();
}

void puller::end_call(lock& held) {
  held.lock();
  if (--calls_ == 0) quiet_.set();
}

void puller::on_response(std::uint64_t stream, shared_bytes response) noexcept {
  if (leases_->closed()) return;
  pull_block& block = leases_->take_block();
  const std::string_view bytes = response.view;
  block.fill(leases_, std::move(response));
  const response_facts facts = read_response(bytes, [&](const received_view& m) { (void)block.add(m); });
  if (facts.has_properties) leases_->set_exactly_once(facts.exactly_once);
  if (facts.malformed) log(log_level::error, "subscription '" + leases_->full_name() + "': a malformed response");
  const std::size_t n = block.size();
  if (n > 0)
    leases_->keep(block);
  else
    leases_->give_back(block);
  lock held(mutex_);
  if (stream == number_) proved_live(held);
  if (phase_ == phase::stopped) {
    const std::shared_ptr<pull_stream> closing = closing_;
    held.unlock();
    if (n > 0) leases_->send_back(block);
    if (closing != nullptr) closing->read();
    return;
  }
  if (n > 0) { // else the block may be somebody else's by now
    for (pull_delivery& d : block)
      ready_.push(d);
    behind_.fetch_add(n);
  }
  hand_over(held, shared_->wire().delivers_from());
  read_more();
}

std::size_t puller::room() const noexcept {
  const std::size_t out = out_.load();
  return out < window_ ? window_ - out : 0;
}

/// Hands over what the window has room for. One thread at a time; the others leave it to that one.
void puller::hand_over(lock& held, deliver_from where) {
  if (delivering_) return;
  delivering_ = true;
  while (!ready_.empty() && phase_ != phase::stopped) {
    const std::size_t n = std::min(room(), ready_.size());
    if (n == 0) break;
    incoming_batch batch;
    if (n == ready_.size()) {
      batch = std::move(ready_);
    } else {
      while (batch.size() < n)
        batch.push(*ready_.pop());
    }
    out_.fetch_add(n);
    behind_.fetch_sub(n);
    begin_call(held);
    sink_.deliver(std::move(batch), where);
    end_call(held);
  }
  delivering_ = false;
}

/// The next response is asked for unless too much is here: a server that keeps to the window never gets there.
void puller::read_more() {
  if (stream_ == nullptr || phase_ == phase::stopped) return;
  const bool full = out_.load() + ready_.size() >= 2 * window_;
  if (full != paused_) {
    paused_ = full;
    if (full)
      behind_.fetch_add(1);
    else
      behind_.fetch_sub(1);
  }
  if (!full) stream_->read();
}

void puller::on_released() noexcept {
  out_.fetch_sub(1);
  if (behind_.load() == 0) [[likely]]
    return;
  lock held(mutex_);
  hand_over(held, deliver_from::anywhere);
  if (paused_) read_more();
}

bool puller::on_refused(std::uint64_t count, const error& why) {
  lock held(mutex_);
  if (!started_ || phase_ == phase::stopped) return false;
  begin_call(held);
  sink_.refused(count, why);
  end_call(held);
  return true;
}

bool puller::passes(const call_status& why) const noexcept {
  if (why.code == status_code::not_found) return fresh_;
  if (why.code == status_code::unauthenticated) return denied_ < most_denials;
  return reopens_stream(why.code);
}

void puller::on_closed(std::uint64_t stream, const call_status& why) noexcept {
  lock held(mutex_);
  if (stream != number_ || phase_ == phase::ended) return;
  closing_.reset();
  gone_.set();
  if (phase_ == phase::stopped) return;
  stream_.reset();
  if (paused_) behind_.fetch_sub(1);
  paused_ = false;
  if (why.code == status_code::unauthenticated) ++denied_;
  if (passes(why))
    reopen(held, why);
  else
    end(held, why);
}

/// At once after a stream that had been accepted, which servers end at will; else after a pause, and health is red.
void puller::reopen(lock& held, const call_status& why) {
  const bool was_live = phase_ == phase::live;
  phase_ = phase::waiting;
  if (was_live) return open_stream(held);
  ++failures_;
  retry_at_ = shared_->clock().now() + pause_after(failures_);
  alarm_.set(retry_at_);
  const error failure = status_error(errc::receive, leases_->full_name(), why);
  last_failure_ = failure;
  tell_interrupted(held, failure);
}

void puller::tell_interrupted(lock& held, const error& why) {
  if (!started_ || std::exchange(interrupted_, true)) return;
  begin_call(held);
  sink_.interrupted(why);
  end_call(held);
}

void puller::end(lock& held, const call_status& why) {
  phase_ = phase::ended;
  error failure = status_error(errc::receive, leases_->full_name(), why);
  if (!started_) {
    refused_ = std::move(failure);
    return decided_.set();
  }
  begin_call(held);
  sink_.ended(std::move(failure));
  end_call(held);
}

void puller::tick() noexcept {
  const std::shared_ptr<puller> self = weak_from_this().lock();
  if (self == nullptr) return;
  lock held(mutex_);
  const time_point now = shared_->clock().now();
  if (phase_ == phase::waiting && now >= retry_at_) open_stream(held);
  if (phase_ == phase::opening && now >= quiet_at_) silent_for_long(held);
  if (phase_ == phase::live && now >= keepalive_at_ && stream_ != nullptr) {
    stream_->send({}); // an empty request: the stream is in use
    keepalive_at_ = now + shared_->options().stream_keepalive;
  }
  if (phase_ == phase::waiting) alarm_.set(retry_at_);
  if (phase_ == phase::opening && quiet_at_ != time_point::max()) alarm_.set(quiet_at_);
  if (phase_ == phase::live) alarm_.set(keepalive_at_);
}

/// No refusal is consent, if there is a connection.
void puller::silent_for_long(lock& held) {
  if (sent_) return proved_live(held);
  quiet_at_ = time_point::max();
  tell_interrupted(held, error(make_error_code(errc::receive), leases_->full_name() + ": there is no connection"));
}

void puller::halt(bool politely) noexcept {
  std::shared_ptr<pull_stream> stream;
  incoming_batch left;
  {
    const lock held(mutex_);
    phase_ = phase::stopped;
    stream = std::move(stream_);
    if (politely) closing_ = stream;
    behind_.fetch_sub(ready_.size());
    out_.fetch_add(ready_.size());
    left = std::move(ready_);
  }
  alarm_.cancel();
  if (stream != nullptr && politely) {
    stream->finish();
    stream->read();
  } else if (stream != nullptr) {
    stream->cancel();
  }
  left.release_all(); // fetched and never handed over: back at once
}

task<void> puller::stop() {
  const auto self = shared_from_this();
  halt(true);
  const bool gone = co_await gone_.wait_until(shared_->clock().now() + goodbye);
  if (!gone) abandon();
  co_await quiet_.wait();
}

void puller::abandon() noexcept {
  std::shared_ptr<pull_stream> closing;
  {
    const lock held(mutex_);
    closing = std::exchange(closing_, nullptr);
  }
  if (closing != nullptr) closing->cancel();
  halt(false);
}

} // namespace millrace::pubsub::detail
