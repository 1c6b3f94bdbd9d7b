#include "session/sender.hpp"

#include "session/connection.hpp"
#include "session/outcome.hpp"
#include "session/termini.hpp"

#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/session.h>

#include <algorithm>
#include <cstring>

namespace millrace::amqp::detail {

sender::sender(hub& shared, std::string address, node_kind kind)
    : hub_(&shared), address_(std::move(address)), kind_(kind), last_used_(shared.clock.now()) {}

pn_link_t* sender::make_link(connection& c, pn_session_t* session) {
  c.make_room();
  pn_link_t* const made = pn_sender(session, c.link_name("sender").c_str());
  describe_target(made, address_, kind_, c.peer());
  return made;
}

void sender::on_open(connection& c) { pump(c); }

void sender::pump(connection& c) {
  restore(c);
  if (link_state() != state::open) return;
  last_used_ = hub_->clock.now();
  const std::uint64_t most = pn_link_remote_max_message_size(link());
  while (out_entry* const e = waiting_.first()) {
    if (most != 0 && e->bytes.size() > most) {
      waiting_.remove(*e);
      finish(*e, fail(errc::publish, place() + ": " + std::to_string(e->bytes.size()) +
                                         " bytes are more than the peer takes (" + std::to_string(most) + ")"));
      continue;
    }
    if (pn_link_credit(link()) <= 0) break;
    waiting_.remove(*e);
    send(*e);
  }
  flush_done();
}

void sender::send(out_entry& e) {
  const std::uint64_t tag = ++last_tag_;
  char room[sizeof tag];
  std::memcpy(room, &tag, sizeof tag);
  e.delivery = pn_delivery(link(), pn_dtag(room, sizeof room));
  pn_delivery_set_context(e.delivery, &e);
  pn_link_send(link(), e.bytes.data(), e.bytes.size());
  if (e.transaction) post_under(e.delivery, e.transaction->id);
  pn_link_advance(link());
  in_flight_.push(e);
}

void sender::on_delivery(connection& c, pn_delivery_t* d) {
  if (!pn_delivery_updated(d)) return;
  const publish_outcome said = read_outcome(d);
  if (said.how == publish_outcome::kind::pending && !pn_delivery_settled(d)) return;
  auto* const e = static_cast<out_entry*>(pn_delivery_get_context(d));
  pn_delivery_set_context(d, nullptr); // the peer may say it again
  pn_delivery_settle(d);
  if (e == nullptr) return; // it gave up waiting
  in_flight_.remove(*e);
  if (said.how == publish_outcome::kind::accepted)
    finish(*e, receipt{});
  else
    finish(*e, fail(error(errc::not_accepted, place()).from_server(0, said.text)));
  flush_done();
  if (ending_ && is_idle()) close();
  c.step_done();
}

void sender::on_lost(connection& c, error why, bool /*was_open*/) {
  const error unknown = error(errc::publish, place() + ": the link was lost, the outcome is unknown")
                            .from_server(0, why.server_text().empty() ? why.message() : why.server_text());
  fail_all(in_flight_, unknown);
  if (why == errc::attach) fail_all(waiting_, why);
  fail_transactional(error(errc::transaction, place() + ": the transaction is gone with its session"));
  if (ending_) fail_all(waiting_, error(errc::closed, place() + ": the connection was shut down"));
  flush_done();
  c.step_done();
  restore(c);
}

void sender::finish(out_entry& e, result<receipt> answer) {
  publish_operation* const op = std::exchange(e.operation, nullptr);
  e.delivery = nullptr;
  if (e.transaction && !answer) e.transaction->failed = true;
  e.transaction = nullptr;
  done_.push(e);
  if (op != nullptr) op->complete(std::move(answer));
}

void sender::fail_all(entry_list& list, const error& why) {
  while (out_entry* const e = list.pop())
    finish(*e, fail(why));
}

void sender::fail_transactional(const error& why) {
  for (out_entry* e = waiting_.first(); e != nullptr;) {
    out_entry* const next = e->next;
    if (e->transaction) {
      waiting_.remove(*e);
      finish(*e, fail(why));
    }
    e = next;
  }
}

void sender::take_inbox() noexcept {
  while (out_entry* const e = inbox_.pop()) {
    newest_due_ = e->due;
    waiting_.push(*e);
  }
}

void sender::on_closed(connection& c, std::optional<error> why) {
  shared_link::on_closed(c, std::move(why));
  if (link_state() == state::idle && is_idle() && !c.is_closing() && hub_->forget(*this)) c.remove(*this);
}

void sender::flush_done() {
  if (done_.empty()) return;
  const std::scoped_lock lock(hub_->mutex);
  hub_->entries.give_back(done_);
}

void sender::expire(entry_list& list, time_point now, const char* why) {
  for (out_entry* e = list.first(); e != nullptr;) {
    out_entry* const next = e->next;
    if (e->due <= now) {
      list.remove(*e);
      if (e->delivery != nullptr) {
        pn_delivery_set_context(e->delivery, nullptr);
        pn_delivery_settle(e->delivery);
      }
      finish(*e, fail(errc::timeout, place() + ": " + why));
    }
    e = next;
  }
}

std::optional<time_point> sender::sweep(connection& c, time_point now) {
  expire(waiting_, now, link_state() == state::open ? "the peer gave no credit" : "the link was not attached");
  expire(in_flight_, now, "the peer did not settle, the outcome is unknown");
  flush_done();
  std::optional<time_point> next;
  for (const entry_list* list : {&waiting_, &in_flight_}) {
    for (const out_entry* e = list->first(); e != nullptr; e = e->next)
      next = next ? std::min(*next, e->due) : e->due;
  }
  if (!is_idle()) return next;
  const time_point idle_at = last_used_ + hub_->settings.idle_link;
  if (link_state() == state::open && idle_at <= now) close();
  if (link_state() == state::open) return idle_at;
  if (link_state() == state::idle && hub_->forget(*this)) c.remove(*this);
  return std::nullopt;
}

void sender::begin_close(connection& /*c*/) {
  ending_ = true;
  fail_all(waiting_, error(errc::closed, place() + ": the connection was shut down"));
  flush_done();
  if (in_flight_.empty()) close();
}

void sender::end(const error& why) {
  ending_ = true;
  {
    const std::scoped_lock lock(hub_->mutex);
    take_inbox();
  }
  fail_all(in_flight_, error(errc::publish, place() + ": the connection is gone, the outcome is unknown"));
  fail_all(waiting_, error(why).at(place()));
  flush_done();
}

} // namespace millrace::amqp::detail
