#include "session/settlements.hpp"

#include "protocol/names.hpp"
#include "protocol/wire_format.hpp"
#include "session/call.hpp"
#include "session/connection.hpp"

#include <millrace/log.hpp>

#include <algorithm>
#include <utility>

namespace millrace::pubsub::detail {
namespace {

constexpr std::size_t most_ids = 2500;
constexpr std::size_t most_bytes = 500UL * 1024;
constexpr std::size_t most_in_flight = 4;
constexpr unsigned most_failures = 12; // about two minutes; by then the lease is gone
constexpr std::uint32_t ack_ids_field = 2;
constexpr std::uint32_t seconds_field = 3;
constexpr std::uint32_t modified_ids_field = 4;

std::uint32_t ids_field(method which) noexcept {
  return which == method::acknowledge ? ack_ids_field : modified_ids_field;
}

/// The same request with these ids alone.
std::string with_ids(method which, std::string_view body, const std::vector<std::string>& ids) {
  std::string out;
  wire_reader in(body);
  wire_field field;
  while (in.next(field)) {
    if (field.number == 1) put_bytes(out, 1, field.content);
    if (field.number == seconds_field && which == method::modify_ack_deadline)
      put_number(out, seconds_field, field.value);
  }
  for (const std::string& id : ids)
    put_bytes(out, ids_field(which), id);
  return out;
}

} // namespace

settlements::settlements(std::shared_ptr<connection> shared, const std::string& full_name, std::int64_t window)
    : shared_(std::move(shared)), name_(full_name), routing_("subscription=" + percent_encoded(full_name)),
      enough_(static_cast<std::size_t>(std::clamp<std::int64_t>(window / 4, 1, most_ids))),
      at_once_(shared_->options().settle_delay == duration::zero()), idle_(shared_->clock()),
      alarm_(shared_->clock(), [this] { tick(); }) {
  idle_.set();
}

void settlements::add(gathering& to, std::uint32_t seconds, method which, std::string_view ack_id, told_later told) {
  if (to.count == 0) {
    put_bytes(to.body, 1, name_);
    if (which == method::modify_ack_deadline) put_number(to.body, seconds_field, seconds);
    idle_.clear();
    if (!at_once_) alarm_.set(shared_->clock().now() + shared_->options().settle_delay);
  }
  put_bytes(to.body, ids_field(which), ack_id);
  if (told != nullptr) to.awaited.push_back({std::string(ack_id), std::move(told)});
  if (++to.count >= most_ids || to.body.size() >= most_bytes) seal(to, which);
}

void settlements::acknowledge(std::string_view ack_id, told_later told) {
  lock held(mutex_);
  if (closed_) return not_sent(told);
  add(acks_, 0, method::acknowledge, ack_id, std::move(told));
  if (acks_.count >= enough_ || at_once_) seal(acks_, method::acknowledge);
  if (!waiting_.empty()) send_waiting(held);
}

void settlements::modify(std::string_view ack_id, std::uint32_t seconds, told_later told) {
  lock held(mutex_);
  if (closed_) return not_sent(told);
  add(changes_[seconds], seconds, method::modify_ack_deadline, ack_id, std::move(told));
  if (at_once_) seal_all();
  if (!waiting_.empty()) send_waiting(held);
}

void settlements::send_now() {
  lock held(mutex_);
  seal_all();
  send_waiting(held);
}

void settlements::seal(gathering& from, method which) {
  if (from.count == 0) return;
  request r;
  r.which = which;
  r.body = std::make_shared<const std::string>(std::move(from.body));
  r.ids = from.count;
  r.awaited = std::move(from.awaited);
  from = {};
  waiting_.push_back(std::move(r));
}

void settlements::seal_all() {
  seal(acks_, method::acknowledge);
  for (auto& [seconds, ids] : changes_)
    seal(ids, method::modify_ack_deadline);
  changes_.clear();
}

/// Sends what is due. The lock is given up meanwhile.
void settlements::send_waiting(lock& held) {
  std::deque<request> later;
  const time_point now = shared_->clock().now();
  while (!waiting_.empty() && in_flight_ < most_in_flight) {
    request r = std::move(waiting_.front());
    waiting_.pop_front();
    if (r.due > now) {
      later.push_back(std::move(r));
      continue;
    }
    ++in_flight_;
    held.unlock();
    send(std::move(r));
    held.lock();
  }
  for (request& r : later)
    waiting_.push_back(std::move(r));
}

void settlements::send(request r) {
  call_request call;
  call.which = r.which;
  call.body = r.body;
  call.routing = routing_;
  call.bound = shared_->options().call_timeout;
  shared_->wire().call(call, [self = shared_from_this(), r = std::move(r)](const call_answer& answer) mutable {
    self->answered(std::move(r), answer);
  });
}

void settlements::answered(request r, const call_answer& answer) {
  std::size_t refused = 0;
  if (!answer.status.ok()) refused = take_refused(r, answer.status);
  if (answer.status.ok())
    for (const awaited_id& one : r.awaited)
      one.told->confirm();
  if (refused > 0) report(r, refused, answer.status);
  lock held(mutex_);
  --in_flight_;
  if (closed_ && !answer.status.ok()) std::ranges::for_each(r.awaited, [&](const auto& one) { not_sent(one.told); });
  if (closed_) return;
  if (!answer.status.ok() && r.ids > 0) {
    alarm_.set(r.due);
    waiting_.push_back(std::move(r));
  }
  send_waiting(held);
  tell_if_idle();
}

std::size_t settlements::take_refused(request& r, const call_status& status) {
  const refused_ids said = read_refused_ids(status.details);
  std::size_t refused = said.permanent.size();
  if (!said.transient.empty()) {
    r.body = std::make_shared<const std::string>(with_ids(r.which, *r.body, said.transient));
    r.ids = said.transient.size();
  } else if (!said.permanent.empty()) {
    r.ids = 0;
  } else if (!retries_publish(status.code)) {
    refused = std::exchange(r.ids, 0);
  }
  if (r.ids > 0 && ++r.failures > most_failures) refused += std::exchange(r.ids, 0);
  if (r.ids > 0) r.due = shared_->clock().now() + pause_after(r.failures);
  tell_awaited(r, said, status);
  return refused;
}

/// Those whose ids are not sent again hear what became of them.
void settlements::tell_awaited(request& r, const refused_ids& said, const call_status& status) const {
  const auto names = [](const std::vector<std::string>& ids, const std::string& id) {
    return std::ranges::find(ids, id) != ids.end();
  };
  std::erase_if(r.awaited, [&](const awaited_id& one) {
    const bool passing = said.empty() || names(said.transient, one.ack_id);
    if (passing && r.ids > 0) return false;
    if (passing || names(said.permanent, one.ack_id))
      one.told->refuse(status_error(errc::receive, name_, status));
    else
      one.told->confirm();
    return true;
  });
}

void settlements::not_sent(const told_later& told) const {
  if (told != nullptr) told->refuse(error(make_error_code(errc::not_connected), "subscription '" + name_ + "'"));
}

/// A lease that was not extended is told by the acknowledgement that comes too late, if one comes.
void settlements::report(const request& r, std::size_t refused, const call_status& status) const {
  const error why = status_error(errc::receive, name_, status);
  const bool acks = r.which == method::acknowledge;
  if (acks && tell_refused_ && tell_refused_(refused, why)) return;
  log(log_level::warning, "subscription '" + name_ + "': " + std::to_string(refused) +
                              (acks ? " acknowledgements" : " changes of leases") +
                              " were refused, the messages come back: " + why.message());
}

void settlements::tick() noexcept {
  const std::shared_ptr<settlements> self = weak_from_this().lock();
  if (self == nullptr) return;
  lock held(mutex_);
  if (closed_) return;
  seal_all();
  send_waiting(held);
  tell_if_idle();
  const time_point now = shared_->clock().now();
  for (const request& r : waiting_)
    if (r.due > now) alarm_.set(r.due); // the others go with the next answer
}

void settlements::tell_if_idle() {
  if (acks_.count == 0 && changes_.empty() && waiting_.empty() && in_flight_ == 0) idle_.set();
}

task<bool> settlements::drain(time_point due) {
  const auto self = shared_from_this();
  {
    lock held(mutex_);
    seal_all();
    send_waiting(held);
    tell_if_idle();
  }
  const bool idle = co_await idle_.wait_until(due);
  co_return idle;
}

void settlements::close() noexcept {
  {
    const lock held(mutex_);
    closed_ = true;
    seal_all();
    for (const request& r : waiting_)
      std::ranges::for_each(r.awaited, [&](const auto& one) { not_sent(one.told); });
    waiting_.clear();
  }
  alarm_.cancel();
}

} // namespace millrace::pubsub::detail
