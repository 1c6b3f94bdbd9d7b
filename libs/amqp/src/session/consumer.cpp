#include "session/consumer.hpp"

#include "session/connection.hpp"
#include "session/termini.hpp"

#include <millrace/log.hpp>

#include <proton/delivery.h>
#include <proton/link.h>
#include <proton/session.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::amqp::detail {

consumer::consumer(std::shared_ptr<consumer_seat> seat, sink& to)
    : seat_(std::move(seat)), pool_(delivery_pool::make(seat_)), sink_(&to),
      pauses_(seat_->shared->settings.backoff_first, seat_->shared->settings.backoff_most) {}

consumer::~consumer() { close_gate(); }

void consumer::open_first(connection& c, std::shared_ptr<outcome_of> first, time_point due) {
  first_ = std::move(first);
  due_ = due;
  if (!c.is_ready()) return finish_first(c, error(errc::closed, place() + ": the connection is lost"));
  open(c);
}

pn_link_t* consumer::make_link(connection& c) {
  const std::string& durable = seat_->source.durable_name;
  const std::string name = durable.empty() ? c.link_name("receiver") : durable;
  pn_link_t* const made = pn_receiver(session_, name.c_str());
  describe_source(made, seat_->source, c.peer());
  return made;
}

void consumer::open(connection& c) {
  phase_ = phase::opening;
  session_ = c.begin_session(*this);
  attach(make_link(c));
}

void consumer::on_open(connection& c) {
  const peer_facts& peer = c.peer();
  if (!seat_->source.selector.empty() && !selects(link(), peer)) return refuse_unfiltered(c);
  seat_->counts.store(peer.counts_deliveries(), std::memory_order_relaxed);
  {
    const std::scoped_lock lock(seat_->shared->mutex);
    seat_->open = true;
    seat_->knows_modified = peer.knows_modified();
    generation_ = seat_->generation;
  }
  phase_ = phase::consuming;
  due_.reset();
  pauses_.reset();
  out_ = 0;
  freed_ = 0;
  overdrawn_ = 0;
  pn_link_flow(link(), static_cast<int>(seat_->source.credit));
  if (first_) std::exchange(first_, nullptr)->done.set();
  if (std::exchange(interrupted_, false)) sink_->resumed();
}

/// Everything would come, as if it had been selected.
void consumer::refuse_unfiltered(connection& c) {
  abandon();
  leave_session(c);
  lost(c, error(errc::attach, place() + ": the peer does not filter by selectors"), true);
}

/// Moves what has arrived of `d`; true: it is whole.
bool consumer::take_bytes(connection& c, pn_delivery_t* d) {
  const std::uint64_t most = c.settings().max_message_size;
  std::array<char, 16384> overflow;
  while (const std::size_t pending = pn_delivery_pending(d)) {
    std::string& bytes = current_->bytes();
    const std::size_t before = bytes.size();
    oversize_ = oversize_ || before + pending > most;
    if (oversize_) {
      if (pn_link_recv(link(), overflow.data(), overflow.size()) <= 0) break;
      continue;
    }
    bytes.resize(before + pending);
    const auto n = pn_link_recv(link(), bytes.data() + before, pending);
    bytes.resize(before + static_cast<std::size_t>(std::max<decltype(n)>(n, 0)));
    if (n <= 0) break;
  }
  return !pn_delivery_partial(d);
}

void consumer::on_delivery(connection& c, pn_delivery_t* d) {
  if (!pn_delivery_readable(d) || pn_link_current(link()) != d) return;
  if (current_ == nullptr) {
    current_ = &pool_->take();
    current_->begin(generation_);
    oversize_ = false;
  }
  const bool aborted = pn_delivery_aborted(d);
  if (!aborted && !take_bytes(c, d)) return;
  pn_link_advance(link());
  if (aborted) {
    std::exchange(current_, nullptr)->discard();
    pn_delivery_settle(d);
    ++freed_;
    return give_credit();
  }
  if (const int credit = pn_link_credit(link()); credit < 0) {
    if (c.peer().keeps_to_credit()) return refuse_peer(c, "amqp:link:transfer-limit-exceeded", "more than its credit");
    overdrawn_by(-credit);
  }
  completed(c, d);
}

void consumer::completed(connection& c, pn_delivery_t* d) {
  if (oversize_) return refuse(c, d, "it is larger than max_message_size");
  current_->finish(d);
  if (current_->message().body == received::body_kind::unsupported) return refuse(c, d, "its body has no byte form");
  if (current_->message().body == received::body_kind::malformed) return refuse(c, d, "it cannot be decoded");
  if (phase_ == phase::stopped) {
    std::exchange(current_, nullptr)->discard();
    return settle_as(d, verdict::release);
  }
  if (seat_->source.mode == settle::at_most_once) settle_as(d, verdict::accept);
  if (batch_.empty()) c.mark_dirty(*this);
  ++out_;
  batch_.push(*std::exchange(current_, nullptr));
}

/// One message that cannot be handled is rejected, and the subscription goes on.
void consumer::refuse(connection& /*c*/, pn_delivery_t* d, const char* why) {
  std::exchange(current_, nullptr)->discard();
  settle_as(d, seat_->source.mode == settle::at_most_once ? verdict::accept : verdict::reject);
  ++freed_;
  give_credit();
  log(log_level::warning,
      "amqp: " + error(errc::unsupported_body, place() + ": a message was rejected: " + why).message());
}

void consumer::hand_over(deliver_from where) noexcept {
  if (!batch_.empty()) sink_->deliver(std::move(batch_), where);
}

void consumer::settle_all(connection& c) {
  {
    const std::scoped_lock lock(seat_->shared->mutex);
    std::swap(settling_, seat_->settled);
    seat_->queued = false;
  }
  for (const settlement_entry& e : settling_) {
    if (e.generation != generation_ || link() == nullptr) continue;
    if (seat_->source.mode == settle::at_least_once) settle_as(e.delivery, e.how);
    --out_;
    ++freed_;
  }
  settling_.clear();
  give_credit();
  close_if_drained(c);
}

/// The engine counts in unsigned numbers: credit below none would be four billion on the wire.
void consumer::overdrawn_by(int deliveries) {
  pn_link_flow(link(), deliveries);
  overdrawn_ += static_cast<std::uint32_t>(deliveries);
}

/// A quarter of the window at a time; sooner when the peer runs out.
void consumer::give_credit() {
  const std::uint32_t repaid = std::min(freed_, overdrawn_);
  freed_ -= repaid;
  overdrawn_ -= repaid;
  if (freed_ == 0 || phase_ != phase::consuming || link_state() != state::open) return;
  const auto left = static_cast<std::uint32_t>(std::max(pn_link_credit(link()), 0));
  if (freed_ < seat_->source.credit / 4 && left > freed_) return;
  pn_link_flow(link(), static_cast<int>(std::exchange(freed_, 0)));
}

void consumer::close_gate() noexcept {
  {
    const std::scoped_lock lock(seat_->shared->mutex);
    if (std::exchange(seat_->open, false)) ++seat_->generation;
  }
  if (current_ != nullptr) std::exchange(current_, nullptr)->discard();
  batch_.release_all();
}

void consumer::end_session() {
  if (session_ == nullptr) return;
  pn_session_close(session_);
}

void consumer::leave_session(connection& c) {
  end_session();
  if (session_ != nullptr) c.forget_session(std::exchange(session_, nullptr));
}

void consumer::on_lost(connection& c, error why, bool was_open) {
  leave_session(c);
  const bool for_good = !was_open && c.is_for_good(why.server_text());
  lost(c, std::move(why), for_good);
}

void consumer::on_session_gone(connection& c, const error& why) {
  session_ = nullptr;
  if (closing_ && link_state() != state::attaching) {
    if (link() != nullptr) lost_with(c, why);
    return c.step_done();
  }
  if (link() == nullptr) return;
  const bool was_open = link_state() == state::open;
  lost_with(c,
            error(was_open ? errc::receive : errc::attach, "the session was ended").from_server(0, why.server_text()));
}

void consumer::lost_connection(connection& c, const error& why) {
  session_ = nullptr;
  if (link() != nullptr) lost_with(c, why);
}

void consumer::lost(connection& c, error why, bool for_good) {
  close_gate();
  if (closing_ && !c.is_closing()) return c.remove(*this);
  if (phase_ == phase::stopped || closing_) return c.step_done();
  if (first_) return finish_first(c, std::move(why));
  if (for_good) {
    phase_ = phase::stopped;
    interrupted_ = true;
    return sink_->ended(std::move(why));
  }
  phase_ = phase::waiting;
  if (!std::exchange(interrupted_, true)) sink_->interrupted(std::move(why));
  due_ = seat_->shared->clock.now() + pauses_.next();
  c.call_at(*due_);
}

void consumer::finish_first(connection& c, error why) {
  phase_ = phase::stopped;
  due_.reset();
  const auto first = std::exchange(first_, nullptr);
  first->failure = std::move(why);
  c.remove(*this);
  first->done.set();
}

void consumer::restore(connection& c) {
  if (phase_ != phase::waiting || closing_) return;
  due_.reset();
  open(c);
}

std::optional<time_point> consumer::tick(connection& c, time_point now) {
  if (!due_ || *due_ > now) return due_;
  due_.reset();
  if (first_) {
    abandon();
    leave_session(c);
    finish_first(c, error(errc::timeout, place() + ": the peer did not answer the attach"));
  } else if (phase_ == phase::waiting && c.is_ready()) {
    open(c);
  }
  return due_;
}

void consumer::stop(connection& /*c*/) {
  phase_ = phase::stopped;
  due_.reset();
  batch_.release_all();
}

void consumer::close(connection& c) {
  stop(c);
  closing_ = true;
  close_if_drained(c);
}

void consumer::close_if_drained(connection& c) {
  if (!closing_) return;
  if (link() == nullptr) return c.remove(*this);
  if (out_ == 0) begin_close(c);
}

void consumer::begin_close(connection& c) {
  closing_ = true;
  due_.reset();
  if (first_) finish_first(c, error(errc::closed, place() + ": the connection was shut down"));
  if (link() != nullptr)
    link_end::close(!seat_->source.durable_name.empty());
  else
    end_session();
}

void consumer::on_closed(connection& c, std::optional<error> why) {
  if (why && c.is_closing() && !close_error_) close_error_ = std::move(why);
  close_gate();
  end_session();
  c.step_done();
  if (c.is_closing()) return; // which waits for the session's end
  c.forget_session(session_);
  session_ = nullptr;
  c.remove(*this);
}

void consumer::end(const error& why) noexcept {
  close_gate();
  phase_ = phase::stopped;
  if (!first_) return;
  const auto first = std::exchange(first_, nullptr);
  first->failure = why;
  first->done.set();
}

} // namespace millrace::amqp::detail
