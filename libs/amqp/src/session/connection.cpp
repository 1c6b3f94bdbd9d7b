#include "session/connection.hpp"

#include "session/sender.hpp"

#include <algorithm>
#include <thread>

namespace millrace::amqp::detail {

connection::connection(std::shared_ptr<hub> shared, std::shared_ptr<net::transport> io, target to)
    : hub_(std::move(shared)), io_(std::move(io)), target_(std::move(to)), replies_(std::make_shared<reply_link>(hub_)),
      pauses_(hub_->settings.backoff_first, hub_->settings.backoff_most), alarm_(*this) {
  links_.push_back(replies_);
}

connection::~connection() {
  {
    const std::scoped_lock lock(hub_->mutex);
    hub_->closed = true;
  }
  io_->stop();
  if (armed_ && !hub_->clock.disarm(alarm_)) {
    while (!alarm_fired_.load()) // it is firing now, and touches nothing of ours after it said so
      std::this_thread::yield();
  }
  if (state_ != state::over) end_everything(error(errc::closed, "the connection was dropped without a shutdown"));
}

task<result<void>> connection::connect() {
  const auto first = std::make_shared<outcome_of>(hub_->clock);
  io_->start(*this);
  hub_->post([first](connection* c) { c->begin(first); });
  co_await first->done.wait();
  if (first->failure) co_return fail(std::move(*first->failure));
  co_return result<void>{};
}

task<result<bool>> connection::shutdown() {
  {
    const std::scoped_lock lock(hub_->mutex);
    hub_->closed = true; // lifecycle L3: before any I/O
  }
  const auto closing = std::make_shared<outcome_of>(hub_->clock);
  const bool posted = hub_->post([closing](connection* c) { c->begin_close(closing); });
  if (!posted) co_return false;
  co_await closing->done.wait();
  io_->stop();
  if (closing->failure) co_return fail(std::move(*closing->failure));
  co_return closing->orderly;
}

std::string connection::link_name(const char* role) {
  return hub_->link_prefix + "-" + role + "-" + std::to_string(++link_sequence_);
}

void connection::remove(consumer& c) noexcept {
  const auto found = std::ranges::find(consumers_, &c, &std::shared_ptr<consumer>::get);
  if (found == consumers_.end()) return;
  removed_.push_back(std::move(*found));
  consumers_.erase(found);
  std::erase(dirty_, &c);
}

void connection::add(const std::shared_ptr<shared_link>& l) {
  if (std::ranges::find(links_, l) == links_.end()) links_.push_back(l);
}

void connection::remove(shared_link& l) noexcept {
  const auto found = std::ranges::find(links_, &l, &std::shared_ptr<shared_link>::get);
  if (found == links_.end()) return;
  removed_links_.push_back(std::move(*found));
  links_.erase(found);
}

void connection::make_room() {
  if (links_.size() <= hub_->settings.most_links) return;
  shared_link* oldest = nullptr;
  for (const auto& l : links_) {
    const auto idle = l->idle_since();
    if (idle && (oldest == nullptr || *idle < *oldest->idle_since())) oldest = l.get();
  }
  if (oldest != nullptr) oldest->close_idle();
}

/// The engine keeps what it cannot use yet.
std::size_t connection::on_bytes(std::string_view input) noexcept {
  const std::size_t all = input.size();
  {
    const std::scoped_lock lock(hub_->mutex);
    hub_->flush_promised = true;
  }
  engine* const mine = engine_.get();
  while (engine_ && engine_.get() == mine && !input.empty()) {
    const bool fine = mine->input(input, [&] {});
    input = {};
    dispatch();
    const bool refused = state_ == state::opening && engine_ && engine_->login_refused();
    if ((!fine || refused) && engine_.get() == mine) on_transport_end();
  }
  finish_turn();
  return all;
}

void connection::on_written() noexcept {
  write_busy_ = false;
  finish_turn();
}

void connection::on_wake() noexcept {
  if (alarm_fired_.exchange(false)) {
    armed_.reset();
    tick();
  }
  for (auto& command : hub_->take_commands())
    command(this);
  finish_turn();
}

/// Messages to send, settlements to hand in.
void connection::take_work() {
  {
    const std::scoped_lock lock(hub_->mutex);
    std::swap(taken_senders_, hub_->ready_senders);
    std::swap(taken_seats_, hub_->dirty_seats);
    for (const auto& s : taken_senders_)
      s->take_inbox();
  }
  for (const auto& s : taken_senders_) {
    add(s);
    s->pump(*this);
    call_at(s->newest_due());
  }
  taken_senders_.clear();
  for (const auto& seat : taken_seats_) {
    if (const auto owner = seat->owner.lock()) owner->settle_all(*this);
  }
  taken_seats_.clear();
}

void connection::hand_over() noexcept {
  const deliver_from where = io_->may_run_handlers() ? deliver_from::io_thread : deliver_from::anywhere;
  // NOLINTNEXTLINE(modernize-loop-convert): may grow meanwhile
  for (std::size_t i = 0; i < dirty_.size(); ++i)
    dirty_[i]->hand_over(where);
  dirty_.clear();
}

/// True: something was given to the transport.
bool connection::flush() {
  if (write_busy_ || !engine_ || state_ == state::dialling) return false;
  writing_.clear();
  engine_->output(writing_);
  if (writing_.empty()) return false;
  write_busy_ = !io_->write(writing_);
  return true;
}

/// What a turn of the I/O side leaves: work of other threads, deliveries to hand over, bytes to write. Work that comes
/// while a write is under way is looked at when it is done.
void connection::finish_turn() noexcept {
  while (true) {
    if (!write_busy_) take_work();
    dispatch();
    hand_over();
    if (std::exchange(step_done_, false)) advance_close();
    if (flush()) continue;
    const std::scoped_lock lock(hub_->mutex);
    const bool more = !write_busy_ && (!hub_->ready_senders.empty() || !hub_->dirty_seats.empty());
    if (more || step_done_) continue;
    hub_->flush_promised = write_busy_;
    break;
  }
  removed_.clear();
  removed_links_.clear();
  dead_engines_.clear();
  arm_alarm();
}

} // namespace millrace::amqp::detail
