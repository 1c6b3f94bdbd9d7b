#include "session/reply_link.hpp"

#include "protocol/message_in.hpp"
#include "session/awaited_publish.hpp"
#include "session/connection.hpp"
#include "session/outcome.hpp"
#include "session/termini.hpp"

#include <proton/delivery.h>
#include <proton/link.h>

namespace millrace::amqp::detail {
namespace {

constexpr int reply_credit = 256;

} // namespace

std::string reply_link::current_address() {
  const std::scoped_lock lock(hub_->mutex);
  return address_;
}

/// Attaches the link if it is not, and waits for its address.
task<result<std::string>> reply_link::address(time_point due) {
  std::string known = current_address();
  if (!known.empty()) co_return known;
  const auto opener = std::make_shared<pending>(hub_->clock);
  const auto self = shared_from_this();
  {
    const std::scoped_lock lock(hub_->mutex);
    if (hub_->closed) co_return fail(errc::closed, "the connection was shut down");
    if (!hub_->peer.makes_dynamic_nodes())
      co_return fail(millrace::errc::unsupported, hub_->peer.text() + " has no dynamic nodes for replies");
    openers_.push_back(opener);
  }
  const bool posted = hub_->post([self](connection* c) {
    self->wanted_ = true;
    self->restore(*c);
  });
  if (!posted) co_return fail(errc::closed, "the connection was shut down");
  const bool opened = co_await opener->answered.wait_until(due);
  if (!opened) co_return fail(errc::request_timeout, "the peer gave no reply address");
  if (opener->failure) co_return fail(std::move(*opener->failure));
  co_return opener->reply.payload;
}

task<result<reply_message>> reply_link::request(node_kind kind, std::string destination, outbound_message message,
                                                duration timeout) {
  const std::string place = "request to '" + destination + "'";
  const time_point due = hub_->clock.now() + timeout;
  auto reply_to = co_await address(due);
  if (!reply_to) co_return fail(std::move(reply_to).error().at(place));
  const auto waiter = std::make_shared<pending>(hub_->clock);
  std::string correlation;
  {
    const std::scoped_lock lock(hub_->mutex);
    correlation = hub_->container_id + "-corr-" + std::to_string(++last_id_);
    pending_.emplace(correlation, waiter);
  }
  message.reply_to = *reply_to;
  message.correlation_id = correlation;
  awaited_publish handed(*hub_, kind, destination, message, due);
  auto sent = co_await handed;
  if (!sent) {
    (void)take(correlation);
    if (sent.error() == millrace::errc::timeout) co_return fail(errc::request_timeout, place);
    co_return fail(std::move(sent).error().at(place));
  }
  const bool answered = co_await waiter->answered.wait_until(due);
  if (!answered) {
    (void)take(correlation); // a late reply finds nobody
    co_return fail(errc::request_timeout, place);
  }
  if (waiter->failure) co_return fail(std::move(*waiter->failure).at(place));
  co_return std::move(waiter->reply);
}

reply_link::pending_ptr reply_link::take(std::string_view correlation) noexcept {
  const std::scoped_lock lock(hub_->mutex);
  const auto found = pending_.find(correlation);
  if (found == pending_.end()) return nullptr;
  auto waiter = std::move(found->second);
  pending_.erase(found);
  return waiter;
}

pn_link_t* reply_link::make_link(connection& c, pn_session_t* session) {
  pn_link_t* const made = pn_receiver(session, c.link_name("reply").c_str());
  describe_dynamic_source(made);
  return made;
}

void reply_link::on_open(connection& /*c*/) {
  std::string given = dynamic_address(link());
  if (given.empty()) return fail_all(error(errc::attach, place() + ": the peer gave no address"));
  pn_link_flow(link(), reply_credit);
  std::vector<pending_ptr> openers;
  {
    const std::scoped_lock lock(hub_->mutex);
    address_ = given;
    openers = std::exchange(openers_, {});
  }
  for (const auto& o : openers) {
    o->reply.payload = given;
    o->answered.set();
  }
}

void reply_link::on_delivery(connection& /*c*/, pn_delivery_t* d) {
  if (!pn_delivery_readable(d) || pn_link_current(link()) != d || pn_delivery_partial(d)) return;
  bytes_.resize(pn_delivery_pending(d));
  const auto n = pn_link_recv(link(), bytes_.data(), bytes_.size());
  bytes_.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  const bool whole = !pn_delivery_aborted(d);
  pn_link_advance(link());
  settle_as(d, verdict::accept);
  if (pn_link_credit(link()) < reply_credit / 2) pn_link_flow(link(), reply_credit - pn_link_credit(link()));
  if (whole) received_reply();
}

void reply_link::received_reply() {
  const received message = read_message(bytes_);
  std::string correlation;
  if (message.body != received::body_kind::bytes || !correlation_of(message, correlation)) return;
  const pending_ptr waiter = take(correlation);
  if (!waiter) return;
  waiter->reply.payload = message.payload;
  add_headers(waiter->reply.headers, message);
  waiter->answered.set();
}

void reply_link::fail_all(const error& why) {
  std::vector<pending_ptr> left;
  {
    const std::scoped_lock lock(hub_->mutex);
    address_.clear();
    left = std::exchange(openers_, {});
    for (auto& [id, waiter] : std::exchange(pending_, {}))
      left.push_back(std::move(waiter));
  }
  for (const auto& waiter : left) {
    waiter->failure = why;
    waiter->answered.set();
  }
}

void reply_link::on_lost(connection& /*c*/, error why, bool /*was_open*/) {
  wanted_ = false; // the next request attaches it again
  fail_all(why);
}

void reply_link::begin_close(connection& /*c*/) {
  wanted_ = false;
  fail_all(error(errc::closed, "the connection was shut down"));
  close();
}

void reply_link::end(const error& why) {
  wanted_ = false;
  fail_all(why);
}

} // namespace millrace::amqp::detail
