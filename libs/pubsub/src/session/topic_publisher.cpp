#include "session/topic_publisher.hpp"

#include "protocol/names.hpp"
#include "session/call.hpp"
#include "session/connection.hpp"

#include <algorithm>

namespace millrace::pubsub::detail {
namespace {

std::string topic_field(const std::string& name) {
  std::string out;
  put_bytes(out, 1, name);
  return out;
}

void fail_all(const std::vector<publish_operation*>& waiting, const error& why) {
  for (publish_operation* op : waiting)
    op->complete(fail(why));
}

} // namespace

topic_publisher::topic_publisher(connection& shared, std::string full_name)
    : shared_(shared), name_(std::move(full_name)), routing_("topic=" + percent_encoded(name_)),
      prefix_(topic_field(name_)), idle_(shared.clock()), alarm_(shared.clock(), [this] { tick(); }) {
  idle_.set();
}

error topic_publisher::failure(const call_status& status) const {
  return status_error(errc::publish, "topic '" + name_ + "'", status);
}

publish_lane& topic_publisher::lane_of(std::string_view key) {
  if (key.empty()) return plain_;
  const auto found = keyed_.find(key);
  return found != keyed_.end() ? found->second : keyed_[std::string(key)];
}

bool topic_publisher::fits(const publish_batch& batch, std::size_t size) const noexcept {
  const batching& limits = shared_.options().batches;
  const std::size_t messages = std::clamp<std::size_t>(limits.max_messages(), 1, most_messages);
  const std::size_t bytes = std::min(limits.max_bytes(), largest_batch);
  return batch.waiting.size() < messages && batch.bytes + size <= bytes;
}

void topic_publisher::append(publish_lane& lane, const outgoing_message& m, std::size_t size, publish_operation& op) {
  publish_batch& batch = lane.filling;
  if (batch.empty()) {
    batch.body = prefix_;
    lane.send_at = shared_.clock().now() + shared_.options().batches.max_delay();
  }
  put_message(batch.body, m);
  batch.bytes += size;
  batch.waiting.push_back(&op);
}

void topic_publisher::publish(const outgoing_message& m, publish_operation& op) {
  const std::size_t size = encoded_size(m);
  lock held(mutex_);
  if (closed_) return op.complete_now(fail(errc::not_connected, "topic '" + name_ + "'"));
  if (queued_bytes_ > 0 && queued_bytes_ + size > shared_.options().queued_bytes)
    return op.complete_now(fail(errc::queue_full, "topic '" + name_ + "'"));
  publish_lane& lane = lane_of(m.ordering_key);
  if (!lane.filling.empty() && !fits(lane.filling, size)) seal(lane, m.ordering_key);
  append(lane, m, size, op);
  queued_bytes_ += size;
  idle_.clear();
  if (!fits(lane.filling, 1)) seal(lane, m.ordering_key);
  outbox out;
  dispatch(lane, m.ordering_key, out);
  if (!out.empty()) send_all(held, out);
}

void topic_publisher::seal(publish_lane& lane, std::string_view key) {
  if (lane.filling.empty()) return;
  auto r = std::make_unique<publish_request>();
  r->body = std::make_shared<const std::string>(std::move(lane.filling.body));
  r->waiting = std::move(lane.filling.waiting);
  r->bytes = lane.filling.bytes;
  r->key = key;
  lane.filling = {};
  lane.ready.push_back(std::move(r));
}

/// Takes what may be sent now: with nothing under way nobody waits for company; else full requests, and what waited
/// long enough.
void topic_publisher::dispatch(publish_lane& lane, std::string_view key, outbox& out) {
  const std::size_t most = key.empty() ? std::max<std::size_t>(1, shared_.options().requests) : 1;
  if (lane.in_flight == 0 && lane.ready.empty()) seal(lane, key);
  while (!lane.ready.empty() && lane.in_flight < most) {
    request_ptr r = std::move(lane.ready.front());
    lane.ready.pop_front();
    if (r->give_up_at == time_point{}) r->give_up_at = shared_.clock().now() + shared_.options().publish_timeout;
    ++lane.in_flight;
    r->id = ++last_id_;
    out.push_back(attempt_of(*r));
    sent_.emplace(r->id, std::move(r));
  }
  if (!lane.filling.empty() && key.empty()) alarm_.set(lane.send_at);
}

void topic_publisher::send_all(lock& held, const outbox& out) {
  held.unlock();
  for (const attempt& a : out)
    send(a);
  held.lock();
}

topic_publisher::attempt topic_publisher::attempt_of(const publish_request& r) const {
  return {r.id, r.body, std::max<duration>(r.give_up_at - shared_.clock().now(), std::chrono::milliseconds(1))};
}

void topic_publisher::send(const attempt& a) {
  call_request call;
  call.which = method::publish;
  call.body = a.body;
  call.routing = routing_;
  call.bound = a.bound;
  shared_.wire().call(
      call, [keep = shared_.shared_from_this(), this, id = a.id](const call_answer& answer) { answered(id, answer); });
}

void topic_publisher::answered(std::uint64_t id, const call_answer& answer) {
  lock held(mutex_);
  const auto at = sent_.find(id);
  if (at == sent_.end()) return; // a shutdown gave it up
  request_ptr taken = std::move(at->second);
  sent_.erase(at);
  if (answer.status.ok())
    accepted(held, taken, answer.body);
  else
    failed(held, std::move(taken), answer.status);
}

void topic_publisher::accepted(lock& held, const request_ptr& r, const std::string& body) {
  outbox out;
  queued_bytes_ -= r->bytes;
  settle_lane(r->key, out);
  tell_if_idle();
  send_all(held, out);
  held.unlock();
  const auto ids = read_message_ids(body);
  if (!ids || ids->size() != r->waiting.size()) {
    call_status odd;
    odd.code = status_code::internal;
    odd.text = "the answer has another number of message ids";
    return fail_all(r->waiting, failure(odd));
  }
  for (std::size_t i = 0; i < ids->size(); ++i) {
    receipt accepted;
    accepted.id = (*ids)[i];
    r->waiting[i]->complete(std::move(accepted));
  }
}

/// One message of a batch must not fail its neighbours (pubsub 14.28). The halves go first, in their order.
void topic_publisher::send_in_halves(lock& held, const request_ptr& r) {
  publish_lane& lane = lane_of(r->key);
  auto [first, second] = halves_of(*r);
  lane.ready.push_front(std::move(second));
  lane.ready.push_front(std::move(first));
  outbox out;
  settle_lane(r->key, out);
  send_all(held, out);
}

/// Again after a pause, or an error for all who wait: of a key also for those behind, and the key is free again.
void topic_publisher::failed(lock& held, request_ptr r, const call_status& status) {
  const time_point now = shared_.clock().now();
  const duration pause = pause_after(++r->failures);
  if (retries_publish(status.code) && now + pause < r->give_up_at) {
    r->due = now + pause;
    alarm_.set(r->due);
    sent_.emplace(r->id, std::move(r));
    return;
  }
  if (status.code == status_code::invalid_argument && r->waiting.size() > 1) return send_in_halves(held, r);
  std::vector<request_ptr> behind;
  if (!r->key.empty()) behind = take_lane(r->key);
  outbox out;
  queued_bytes_ -= r->bytes;
  for (const request_ptr& one : behind)
    queued_bytes_ -= one->bytes;
  if (r->key.empty()) settle_lane(r->key, out);
  tell_if_idle();
  send_all(held, out);
  held.unlock();
  fail_all(r->waiting, failure(status));
  const error ahead = failure(status).at("ordering key '" + r->key + "', an earlier message failed");
  for (const request_ptr& one : behind)
    fail_all(one->waiting, ahead);
}

/// Everything that waits under a key; its lane is gone then.
std::vector<topic_publisher::request_ptr> topic_publisher::take_lane(std::string_view key) {
  std::vector<request_ptr> all;
  const auto at = keyed_.find(key);
  if (at == keyed_.end()) return all;
  seal(at->second, key);
  for (request_ptr& one : at->second.ready)
    all.push_back(std::move(one));
  keyed_.erase(at);
  return all;
}

/// One request of the lane has ended: the next ones go, and an idle key is forgotten.
void topic_publisher::settle_lane(std::string_view key, outbox& out) {
  publish_lane& lane = lane_of(key);
  --lane.in_flight;
  dispatch(lane, key, out);
  if (!key.empty() && lane.idle()) keyed_.erase(keyed_.find(key));
}

void topic_publisher::tick() noexcept {
  const std::shared_ptr<connection> keep = shared_.weak_from_this().lock();
  if (keep == nullptr) return;
  outbox out;
  lock held(mutex_);
  const time_point now = shared_.clock().now();
  if (!plain_.filling.empty() && now >= plain_.send_at) seal(plain_, {});
  dispatch(plain_, {}, out);
  send_due(now, out);
  send_all(held, out);
}

void topic_publisher::send_due(time_point now, outbox& out) {
  for (const auto& [id, r] : sent_) {
    if (r->due == time_point{}) continue;
    if (r->due > now) {
      alarm_.set(r->due);
      continue;
    }
    r->due = {};
    out.push_back(attempt_of(*r));
  }
}

void topic_publisher::tell_if_idle() {
  if (plain_.idle() && keyed_.empty() && sent_.empty()) idle_.set();
}

void topic_publisher::close() {
  outbox out;
  lock held(mutex_);
  closed_ = true;
  seal(plain_, {});
  dispatch(plain_, {}, out);
  send_all(held, out);
}

std::size_t topic_publisher::give_up() noexcept {
  std::vector<publish_operation*> waiting;
  const auto take_all = [&](const request_ptr& r) {
    waiting.insert(waiting.end(), r->waiting.begin(), r->waiting.end());
  };
  {
    const lock held(mutex_);
    closed_ = true;
    for (const auto& [id, r] : sent_)
      take_all(r);
    sent_.clear();
    for (auto& [key, lane] : keyed_) {
      seal(lane, key);
      std::ranges::for_each(lane.ready, take_all);
    }
    keyed_.clear();
    seal(plain_, {});
    std::ranges::for_each(plain_.ready, take_all);
    plain_ = {};
    idle_.set();
  }
  alarm_.cancel();
  fail_all(waiting, error(make_error_code(errc::publish),
                          "topic '" + name_ + "': not accepted before the shutdown; it may have arrived"));
  return waiting.size();
}

task<std::size_t> topic_publisher::flush(time_point due) {
  const auto keep = shared_.shared_from_this();
  const bool flushed = co_await idle_.wait_until(due);
  (void)flushed;
  co_return give_up();
}

} // namespace millrace::pubsub::detail
