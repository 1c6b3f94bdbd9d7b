#include "session/lane.hpp"

#include "session/session.hpp"

#include <millrace/log.hpp>

namespace millrace::rabbitmq::detail {
namespace {

std::string publish_to(std::string_view key) { return "publish to '" + std::string(key) + "'"; }

error failure_of(const settled_publish& p, std::uint16_t code, std::string_view text) {
  const std::string what = publish_to(p.routing_key);
  switch (p.end) {
  case settled_publish::how::refused:
    return error(errc::publish, what + ": the server refused the message");
  case settled_publish::how::returned:
    return error(errc::publish, what + ": no queue takes it")
        .from_server(p.return_code, p.return_code == 312 ? "NO_ROUTE" : "returned");
  case settled_publish::how::expired:
    return error(errc::timeout, what + ": the server did not answer; it may have the message");
  default:
    return error(errc::publish, what + ": the channel was lost; the server may have the message")
        .from_server(code, std::string(text));
  }
}

} // namespace

bool lane::can_send() noexcept {
  if (!gate_.open || link_->blocked || link_->out.size() >= link_->settings.write_buffer) return false;
  confirm_ledger* const l = ledger();
  return l == nullptr || !l->full();
}

std::uint32_t lane::frame_max() const noexcept {
  const std::scoped_lock lock(link_->mutex);
  return link_->frame_max;
}

bool lane::is_closed() const noexcept {
  const std::scoped_lock lock(link_->mutex);
  return link_->closed;
}

void lane::publish(const lane_message& message, publish_operation& op) {
  const auto due = [&] { return message.due ? *message.due : link_->clock.now() + link_->settings.publish_timeout; };
  bool wake = false;
  bool ask = false;
  bool done = false;
  bool sweep = false;
  {
    const std::scoped_lock lock(link_->mutex);
    if (link_->closed) return op.complete_now(fail(errc::closed, publish_to(message.routing_key)));
    if (waiting_.empty() && can_send()) [[likely]] {
      append_publish(link_->out, gate_.number, message.exchange, message.routing_key, message.mandatory,
                     *message.properties, message.payload, link_->frame_max);
      wake = link_->promise_flush();
      if (message.handed != nullptr) *message.handed = true;
      if (confirm_ledger* const l = ledger(); l != nullptr) {
        l->add(op, message.routing_key, due());
        sweep = !std::exchange(swept_, true);
      } else {
        done = true;
      }
    } else {
      std::string frames;
      append_publish(frames, 0, message.exchange, message.routing_key, message.mandatory, *message.properties,
                     message.payload, link_->frame_max);
      if (!wait({&op, std::move(frames), std::string(message.routing_key), due(), message.handed})) return;
      ask = !std::exchange(wanted_, true);
      sweep = !std::exchange(swept_, true);
    }
  }
  if (done) op.complete_now();
  if (wake) link_->wake();
  ask_session(ask, sweep);
}

void lane::publish_frames(std::string frames, std::string_view routing_key, publish_operation& op) {
  const time_point due = link_->clock.now() + link_->settings.publish_timeout;
  bool ask = false;
  bool sweep = false;
  {
    const std::scoped_lock lock(link_->mutex);
    if (link_->closed) return op.complete_now(fail(errc::closed, publish_to(routing_key)));
    if (!wait({&op, std::move(frames), std::string(routing_key), due, nullptr})) return;
    ask = !gate_.open && !std::exchange(wanted_, true);
    sweep = !std::exchange(swept_, true);
  }
  pump();
  ask_session(ask, sweep);
}

void lane::ask_session(bool ask, bool sweep) {
  if (!ask && !sweep) return;
  link_->post([self = shared_from_this(), ask](session* s) {
    s->adopt(self);
    if (ask) self->want(*s, false);
  });
}

/// With the mutex. False: refused, and the operation is complete.
bool lane::wait(waiting_publish w) {
  if (waiting_.size() >= link_->settings.waiting_publishes) {
    w.operation->complete_now(millrace::fail(millrace::errc::queue_full, publish_to(w.routing_key)));
    return false;
  }
  waiting_.push_back(std::move(w));
  link_->stalled = true;
  return true;
}

void lane::want(session& s, bool always) {
  if (opening_ != 0) return;
  {
    const std::scoped_lock lock(link_->mutex);
    if (gate_.open) return;
    wanted_ = always || !waiting_.empty() || needed();
    if (!wanted_) return;
  }
  if (!s.ready_for_channels()) return; // the session asks again
  const std::uint16_t number = s.open_channel(*this);
  if (number != 0) {
    opening_ = number;
    return;
  }
  std::deque<waiting_publish> refused;
  {
    const std::scoped_lock lock(link_->mutex);
    refused = std::exchange(waiting_, {});
    wanted_ = false;
  }
  for (auto& w : refused)
    w.operation->complete(fail(errc::publish, publish_to(w.routing_key) + ": the connection has no free channel"));
}

bool lane::on_open(session& /*s*/) {
  opened();
  return true;
}

void lane::opened() noexcept {
  {
    const std::scoped_lock lock(link_->mutex);
    gate_.number = opening_;
    gate_.open = true;
    wanted_ = true;
  }
  pump();
}

bool lane::on_method(session& /*s*/, method what, reader& args) {
  confirm_ledger* const l = ledger();
  if (what == method::basic_return) {
    const return_args returned(args);
    if (args.ok()) on_return(returned);
    return args.ok();
  }
  if (l == nullptr) return false;
  if (what == method::confirm_select_ok) {
    opened();
    return true;
  }
  if (what != method::basic_ack && what != method::basic_nack) return false;
  const confirm_args confirm(args);
  if (!args.ok()) return false;
  bool known = false;
  bool waits = false;
  {
    const std::scoped_lock lock(link_->mutex);
    known = l->confirm(confirm.tag, confirm.multiple, what == method::basic_ack, ended_);
    waits = !waiting_.empty();
  }
  complete(ended_, 0, {});
  if (waits) pump();
  return known;
}

void lane::pump() noexcept {
  std::vector<publish_operation*> handed;
  bool wake = false;
  {
    const std::scoped_lock lock(link_->mutex);
    while (!waiting_.empty() && can_send()) {
      waiting_publish& w = waiting_.front();
      address_frames(w.frames, gate_.number);
      link_->out += w.frames;
      if (w.handed != nullptr) *w.handed = true;
      if (confirm_ledger* const l = ledger(); l != nullptr)
        l->add(*w.operation, w.routing_key, w.due);
      else
        handed.push_back(w.operation);
      waiting_.pop_front();
      wake = link_->promise_flush() || wake;
    }
    if (!waiting_.empty()) link_->stalled = true;
  }
  for (publish_operation* op : handed)
    op->complete(receipt{});
  if (wake) link_->wake();
}

void lane::complete(std::vector<settled_publish>& ended, std::uint16_t code, std::string_view text) noexcept {
  for (settled_publish& p : ended) {
    if (p.end == settled_publish::how::accepted)
      p.operation->complete(receipt{});
    else
      p.operation->complete(millrace::fail(failure_of(p, code, text)));
  }
  ended.clear();
}

std::optional<time_point> lane::sweep(time_point now) noexcept {
  std::deque<waiting_publish> late;
  std::optional<time_point> next;
  {
    const std::scoped_lock lock(link_->mutex);
    for (auto w = waiting_.begin(); w != waiting_.end();) {
      if (w->due <= now) {
        late.push_back(std::move(*w));
        w = waiting_.erase(w);
        continue;
      }
      if (!next || w->due < *next) next = w->due;
      ++w;
    }
    if (confirm_ledger* const l = ledger(); l != nullptr) {
      l->expire(now, ended_);
      if (const time_point* due = l->next_due(); due != nullptr && (!next || *due < *next)) next = *due;
    }
    swept_ = next.has_value();
  }
  for (auto& w : late) {
    w.operation->complete(
        fail(errc::timeout, publish_to(w.routing_key) + ": the connection took no messages; it was not sent"));
  }
  complete(ended_, 0, {});
  return next;
}

void lane::close_gate(std::vector<settled_publish>& ended) noexcept {
  gate_.open = false;
  ++gate_.generation;
  wanted_ = !waiting_.empty();
  if (confirm_ledger* const l = ledger(); l != nullptr) l->lose(ended);
  gate_closed();
}

void lane::on_gone(session& s, std::uint16_t code, std::string_view text) noexcept {
  opening_ = 0;
  {
    const std::scoped_lock lock(link_->mutex);
    close_gate(ended_);
  }
  if (code != 0)
    log(log_level::warning,
        "rabbitmq: the server closed a publishing channel: " + std::to_string(code) + " " + std::string(text));
  complete(ended_, code, text);
  want(s, false);
}

void lane::end(const error& why) noexcept {
  std::deque<waiting_publish> left;
  {
    const std::scoped_lock lock(link_->mutex);
    close_gate(ended_);
    left = std::exchange(waiting_, {});
  }
  for (auto& w : left)
    w.operation->complete(millrace::fail(error(why).at(publish_to(w.routing_key))));
  complete(ended_, 0, {});
}

bool confirm_lane::on_open(session& s) {
  s.send([&](std::string& out) { append_confirm_select(out, number()); });
  return true;
}

void confirm_lane::on_return(const return_args& args) {
  const std::scoped_lock lock(shared().mutex);
  ledger_.returned(args.routing_key, args.code);
}

} // namespace millrace::rabbitmq::detail
