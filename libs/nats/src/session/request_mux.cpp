#include "session/request_mux.hpp"

#include <millrace/nats/errors.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>

namespace millrace::nats::detail {

namespace {
constexpr std::uint64_t mux_pending_limit = 1U << 20; // replies are handed over at once; this is never a queue
}

request_mux::slot::slot(request_mux& m, std::uint32_t i) noexcept
    : timer([](timer& t) noexcept {
        auto& self = static_cast<slot&>(t);
        self.mux->on_deadline(self);
      }),
      mux(&m), index(i) {}

request_mux::request_mux(runtime& rt, transport& wire) : runtime_(rt), wire_(wire) {}

request_mux::~request_mux() {
  close(error(errc::closed, "inbox"));
  while (!quiet())
    std::this_thread::yield(); // a timer that is firing still looks at its slot
}

bool request_mux::quiet() const noexcept {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(slots_, [](const slot& s) { return s.state == phase::idle; });
}

result<void> request_mux::start() {
  const std::lock_guard lock(mutex_);
  if (closed_) return fail(errc::closed, "inbox");
  if (subscription_ != nullptr) return {};
  if (inbox_.empty()) inbox_ = wire_.new_inbox() + '.';
  auto made = wire_.subscribe(inbox_ + '*', {}, *this, mux_pending_limit);
  if (!made) return fail(std::move(made.error()));
  subscription_ = std::move(*made);
  return {};
}

request_mux::slot* request_mux::claim(reply_waiter& waiter) {
  const std::lock_guard lock(mutex_);
  if (closed_) return nullptr;
  if (first_free_ == no_slot) {
    slot& fresh = slots_.emplace_back(*this, static_cast<std::uint32_t>(slots_.size()));
    fresh.next_free = no_slot;
    first_free_ = fresh.index;
  }
  slot& s = slots_[first_free_];
  first_free_ = s.next_free;
  ++s.generation;
  s.state = phase::pending;
  s.waiter = &waiter;
  ++pending_;
  return &s;
}

result<void> request_mux::send(wire_message message, duration timeout, reply_waiter& waiter, ticket& out) {
  if (result<void> started = start(); !started) return fail(std::move(started.error()));
  slot* const s = claim(waiter);
  if (s == nullptr) return fail(errc::closed, std::string(message.subject));
  const ticket mine{s->index, s->generation};
  out = mine;
  subject_buffer storage;
  message.reply = reply_subject(*s, storage);
  runtime_.arm(*s, runtime_.now() + timeout);
  result<void> sent = wire_.publish(message);
  if (sent) return {};
  // Told already, by a deadline that passed meanwhile or a closing connection: then that answer stands.
  if (!cancel(mine)) return {};
  return fail(std::move(sent.error()));
}

std::string_view request_mux::reply_subject(const slot& s, subject_buffer& storage) const noexcept {
  const std::size_t size = std::min(inbox_.size(), storage.size() - 24);
  std::memcpy(storage.data(), inbox_.data(), size);
  char* at = storage.data() + size;
  char* const end = storage.data() + storage.size();
  at = std::to_chars(at, end, s.index, 36).ptr;
  *at++ = '-';
  at = std::to_chars(at, end, s.generation, 36).ptr;
  return {storage.data(), static_cast<std::size_t>(at - storage.data())};
}

void request_mux::on_message(received message, bool /*more*/) noexcept {
  const std::string_view subject = message.subject();
  const std::string_view token = subject.substr(subject.rfind('.') + 1);
  const std::size_t dash = token.find('-');
  if (dash == std::string_view::npos) return;
  ticket which;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the second argument is its end
  std::from_chars(token.data(), token.data() + dash, which.index, 36);
  std::from_chars(token.data() + dash + 1, token.data() + token.size(), which.generation, 36);
  if (reply_waiter* waiter = take(which)) waiter->on_reply(std::move(message));
}

reply_waiter* request_mux::take(ticket which) noexcept {
  slot* s = nullptr;
  reply_waiter* waiter = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (which.index >= slots_.size()) return nullptr;
    s = &slots_[which.index];
    if (s->generation != which.generation || s->state != phase::pending) return nullptr;
    s->state = phase::answered;
    --pending_;
    waiter = std::exchange(s->waiter, nullptr);
  }
  settle_timer(*s);
  return waiter;
}

/// The slot is free when both its answer and its timer are done with it, in either order.
void request_mux::settle_timer(slot& s) noexcept {
  const bool disarmed = runtime_.disarm(s);
  const std::lock_guard lock(mutex_);
  if (disarmed || s.state == phase::fired)
    free_locked(s);
  else
    s.state = phase::orphan;
}

void request_mux::free_locked(slot& s) noexcept {
  s.state = phase::idle;
  s.next_free = first_free_;
  first_free_ = s.index;
}

void request_mux::on_deadline(slot& s) noexcept {
  reply_waiter* waiter = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (s.state == phase::pending) {
      waiter = std::exchange(s.waiter, nullptr);
      --pending_;
      free_locked(s);
    } else if (s.state == phase::answered)
      s.state = phase::fired;
    else if (s.state == phase::orphan)
      free_locked(s);
  }
  if (waiter != nullptr) waiter->on_reply(fail(errc::request_timeout, {}));
}

bool request_mux::cancel(ticket which) noexcept { return take(which) != nullptr; }

void request_mux::close(const error& why) noexcept {
  std::uint32_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    count = static_cast<std::uint32_t>(slots_.size());
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    ticket which{i, 0};
    {
      const std::lock_guard lock(mutex_);
      which.generation = slots_[i].generation;
    }
    if (reply_waiter* waiter = take(which)) waiter->on_reply(fail(why));
  }
}

task<void> request_mux::stop(duration bound) {
  std::unique_ptr<wire_subscription> stopped;
  {
    const std::lock_guard lock(mutex_);
    stopped = std::move(subscription_);
  }
  if (stopped != nullptr) co_await stopped->stop(bound);
}

std::size_t request_mux::pending() const noexcept {
  const std::lock_guard lock(mutex_);
  return pending_;
}

mux_call::resume_job::resume_job(mux_call& c) noexcept
    : job([](job& j) noexcept { static_cast<resume_job&>(j).call->waiter_.resume(); }), call(&c) {}

mux_call::mux_call(request_mux& mux, runtime& rt, wire_message message, duration timeout) noexcept
    : mux_(mux), runtime_(rt), message_(message), timeout_(timeout), resume_(*this) {}

mux_call::~mux_call() {
  if (waiter_ != nullptr) mux_.cancel(ticket_); // destroyed while it waits; after an answer this finds nothing
}

bool mux_call::await_suspend(std::coroutine_handle<> waiter) {
  waiter_ = waiter;
  // After a successful send this object may be gone: the answer may have resumed the coroutine on another thread.
  result<void> sent = mux_.send(message_, timeout_, *this, ticket_);
  if (sent) return true;
  answer_ = fail(std::move(sent.error()));
  return false;
}

void mux_call::on_reply(result<received> answer) noexcept {
  answer_ = std::move(answer);
  runtime_.post(resume_);
}

unsigned status_of(const received& message) noexcept {
  if (!message.has_headers()) return 0;
  const std::string_view text = message.header("Status");
  unsigned status = 0;
  std::from_chars(text.data(), text.data() + text.size(), status);
  return status;
}

} // namespace millrace::nats::detail
