#include "session/coordinator.hpp"

#include "protocol/codes.hpp"
#include "session/connection.hpp"
#include "session/outcome.hpp"
#include "session/termini.hpp"

#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>

#include <algorithm>
#include <cstring>

namespace millrace::amqp::detail {
namespace {

std::string described(std::uint64_t code) {
  std::string out;
  for (const std::uint64_t c : {static_cast<std::uint64_t>(section::value), code}) {
    out.push_back(static_cast<char>(constructor::described));
    out.push_back(static_cast<char>(constructor::small_ulong));
    out.push_back(static_cast<char>(c));
  }
  return out;
}

std::string declare_body() { return described(declare_code) + static_cast<char>(constructor::list_0); }

void put_u32(std::string& out, std::size_t n) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(n >> shift));
}

std::string discharge_body(const std::string& id, bool commit) {
  std::string out = described(discharge_code);
  out.push_back(static_cast<char>(constructor::list32));
  put_u32(out, 4 + 1 + 4 + id.size() + 1); // the count, the binary and its size, the flag
  put_u32(out, 2);
  out.push_back(static_cast<char>(constructor::binary32));
  put_u32(out, id.size());
  out += id;
  out.push_back(static_cast<char>(commit ? constructor::boolean_false : constructor::boolean_true));
  return out;
}

std::unexpected<error> rolled_back(std::string why) { return fail(errc::transaction, std::move(why)); }

} // namespace

bool coordinator::hand_over(const control_ptr& what) {
  const auto self = shared_from_this();
  return hub_->post([self, what](connection* c) {
    c->add(self);
    self->waiting_.push_back(what);
    self->restore(*c);
    self->pump();
  });
}

task<result<std::string>> coordinator::ask(control_ptr what) {
  const bool posted = hand_over(what);
  if (!posted) co_return fail(errc::closed, "the connection was shut down");
  const bool answered = co_await what->done.wait_until(hub_->clock.now() + hub_->settings.publish_timeout);
  if (!answered) co_return fail(errc::timeout, "the transaction coordinator did not answer");
  if (what->failure) co_return fail(*what->failure);
  co_return what->id;
}

task<result<std::shared_ptr<open_work>>> coordinator::declare() {
  const auto what = std::make_shared<control>(hub_->clock, declare_body());
  what->is_declare = true;
  {
    const std::scoped_lock lock(hub_->mutex);
    if (hub_->closed) co_return fail(errc::closed, "begin a transaction");
  }
  auto id = co_await ask(what);
  if (!id) co_return fail(std::move(id).error().at("begin a transaction"));
  co_return std::make_shared<open_work>(std::move(*id));
}

task<result<void>> coordinator::discharge(std::shared_ptr<open_work> work, bool commit) {
  const bool failed = work->failed;
  const bool wanted = commit && !failed;
  const auto what = std::make_shared<control>(hub_->clock, discharge_body(work->id, wanted));
  auto done = co_await ask(what);
  if (commit && failed) co_return rolled_back("a message of the transaction was not accepted: it was rolled back");
  if (!done && !commit && done.error() == errc::transaction) co_return result<void>{}; // gone is rolled back
  if (!done && done.error() == errc::closed) co_return fail(std::move(done).error().at("end a transaction"));
  if (!done) co_return fail(errc::transaction, done.error().message());
  co_return result<void>{};
}

void coordinator::abandon(const std::shared_ptr<open_work>& work) noexcept {
  (void)hand_over(std::make_shared<control>(hub_->clock, discharge_body(work->id, false)));
}

pn_link_t* coordinator::make_link(connection& c, pn_session_t* session) {
  pn_link_t* const made = pn_sender(session, c.link_name("txn").c_str());
  describe_coordinator(made);
  return made;
}

void coordinator::pump() {
  while (link_state() == state::open && !waiting_.empty() && pn_link_credit(link()) > 0) {
    const std::uint64_t tag = ++last_tag_;
    char room[sizeof tag];
    std::memcpy(room, &tag, sizeof tag);
    pn_delivery_t* const d = pn_delivery(link(), pn_dtag(room, sizeof room));
    control_ptr& next = waiting_.front();
    pn_delivery_set_context(d, next.get());
    pn_link_send(link(), next->body.data(), next->body.size());
    pn_link_advance(link());
    sent_.push_back(std::move(next));
    waiting_.pop_front();
  }
}

void coordinator::on_delivery(connection& c, pn_delivery_t* d) {
  if (!pn_delivery_updated(d)) return;
  auto* const mine = static_cast<control*>(pn_delivery_get_context(d));
  const auto found = std::ranges::find(sent_, mine, &control_ptr::get);
  if (found == sent_.end()) return;
  if (mine->is_declare) mine->id = declared_id(d);
  const publish_outcome said = read_outcome(d);
  const bool fine = mine->is_declare ? !mine->id.empty() : said.how == publish_outcome::kind::accepted;
  if (!fine && said.how == publish_outcome::kind::pending && !pn_delivery_settled(d)) return;
  pn_delivery_settle(d);
  const control_ptr what = std::move(*found);
  sent_.erase(found);
  if (!fine) what->failure = error(errc::transaction, "refused").from_server(0, said.text);
  what->done.set();
  c.step_done();
}

void coordinator::fail_all(const error& why) {
  for (std::deque<control_ptr>* list : {&sent_, &waiting_}) {
    for (const control_ptr& what : std::exchange(*list, {})) {
      what->failure = why;
      what->done.set();
    }
  }
}

/// The peer rolls back what it was told of; what was not yet declared may be asked for again by the caller.
void coordinator::on_lost(connection& c, error why, bool /*was_open*/) {
  fail_all(error(errc::transaction, "the coordinator's link was lost: " + why.message()));
  c.step_done();
}

std::optional<time_point> coordinator::sweep(connection& /*c*/, time_point /*now*/) { return std::nullopt; }

void coordinator::begin_close(connection& /*c*/) {
  fail_all(error(errc::closed, "the connection was shut down"));
  close();
}

void coordinator::end(const error& why) { fail_all(why); }

} // namespace millrace::amqp::detail
