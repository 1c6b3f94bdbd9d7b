// The part of pull_reader that looks after its consumer.
#include "session/pull_reader.hpp"

#include "protocol/js_api.hpp"

#include <millrace/log.hpp>
#include <millrace/nats/errors.hpp>

#include <algorithm>
#include <random>

namespace millrace::nats::detail {
namespace {

constexpr duration first_pause = std::chrono::milliseconds(250);
constexpr duration longest_pause = std::chrono::seconds(5);
constexpr unsigned no_responders = 503;

duration pause_before(unsigned attempt) {
  const duration full = std::min(first_pause * (1U << std::min(attempt, 10U)), longest_pause);
  thread_local std::minstd_rand random(std::random_device{}());
  return std::chrono::duration_cast<duration>(full * std::uniform_real_distribution<double>(0.5, 1)(random));
}

bool says_missing(const error& e) noexcept {
  return e.server_code() == consumer_not_found || e.server_code() == stream_not_found;
}

} // namespace

void pull_reader::verify(std::unique_lock<std::mutex>& lock) noexcept {
  suspicious_.store(true, std::memory_order_relaxed);
  ask(lock, phase::asking, consumer_info_subject(source_.stream(), consumer_), {});
}

void pull_reader::recreate(std::unique_lock<std::mutex>& lock) noexcept {
  std::optional<std::uint64_t> from;
  if (account_->unsettled->started()) from = account_->unsettled->resume_at();
  ask(lock, phase::creating, consumer_create_subject(source_), consumer_create_request(source_, from));
}

void pull_reader::ask(std::unique_lock<std::mutex>& lock, phase next, const std::string& subject,
                      const std::string& body) noexcept {
  phase_ = next;
  answer_.reader = shared_from_this();
  lock.unlock();
  wire_message out;
  out.subject = subject;
  out.payload = as_bytes(body);
  request_mux::ticket asked;
  result<void> sent = shared_->mux().send(out, shared_->settings().api_timeout, answer_, asked);
  if (!sent) return answer_.on_reply(fail(std::move(sent.error())));
  lock.lock();
  ticket_ = asked; // answered already: then this finds nothing to cancel
  lock.unlock();
}

void pull_reader::api_answer::on_reply(result<received> answer) noexcept {
  const std::shared_ptr<pull_reader> kept = std::move(reader);
  kept->on_answer(std::move(answer));
}

void pull_reader::on_answer(result<received> answer) noexcept {
  std::unique_lock lock(mutex_);
  if (phase_ != phase::asking && phase_ != phase::creating) return;
  if (!answer) return wait_and_retry(lock, answer.error());
  if (status_of(*answer) == no_responders)
    return wait_and_retry(lock, error(make_error_code(errc::jetstream), "JetStream does not answer"));
  const std::string_view text = as_text(answer->payload());
  if (phase_ == phase::creating) return on_created(lock, read_consumer_response(text, place()));
  on_looked_up(lock, read_api_response(text, place()));
}

void pull_reader::on_looked_up(std::unique_lock<std::mutex>& lock, const result<void>& found) noexcept {
  if (found) return go_on(lock);
  const error& why = found.error();
  if (!says_missing(why)) return wait_and_retry(lock, why);
  const bool stream_is_there = why.server_code() == consumer_not_found;
  if (source_.durable().empty() && !deleted_ && stream_is_there) {
    interrupt(lock, why);
    if (phase_ == phase::asking) recreate(lock);
    return;
  }
  end(lock, error(why).at("the consumer '" + consumer_ + "' is gone"));
}

void pull_reader::on_created(std::unique_lock<std::mutex>& lock, result<std::string> created) noexcept {
  if (!created) {
    if (says_missing(created.error())) return end(lock, std::move(created.error()));
    return wait_and_retry(lock, created.error());
  }
  log(log_level::warning, "nats: " + place() + ": the ephemeral consumer was lost and created again");
  consumer_ = std::move(*created);
  account_->consumer_generation.fetch_add(1, std::memory_order_acq_rel);
  go_on(lock);
}

void pull_reader::go_on(std::unique_lock<std::mutex>& lock) noexcept {
  phase_ = phase::running;
  attempts_ = 0;
  deleted_ = false;
  const bool back = std::exchange(interrupted_, false);
  act(lock, strategy_->restart(totals(), shared_->clock().now()));
  if (lock.owns_lock()) lock.unlock();
  if (!back) return;
  if (const call_gate::pass pass(gate_); pass) sink_.resumed();
}

void pull_reader::wait_and_retry(std::unique_lock<std::mutex>& lock, const error& why) noexcept {
  phase_ = phase::waiting;
  runtime& clock = shared_->clock();
  clock.arm(retry_, clock.now() + pause_before(attempts_++));
  interrupt(lock, why);
}

/// Says so once per outage; the lock is held before and after.
void pull_reader::interrupt(std::unique_lock<std::mutex>& lock, const error& why) noexcept {
  if (std::exchange(interrupted_, true)) return;
  lock.unlock();
  if (const call_gate::pass pass(gate_); pass) sink_.interrupted(error(why).at(place()));
  lock.lock();
}

void pull_reader::end(std::unique_lock<std::mutex>& lock, error why) noexcept {
  phase_ = phase::over;
  incoming_batch part = std::move(gathered_);
  lock.unlock();
  hand_over(std::move(part), deliver_from::anywhere);
  log(log_level::error, "nats: " + why.message());
  if (const call_gate::pass pass(gate_); pass) sink_.ended(std::move(why));
}

void pull_reader::on_connection_lost(const error& why) noexcept {
  std::unique_lock lock(mutex_);
  if (phase_ == phase::over) return;
  if (phase_ == phase::running) phase_ = phase::lost;
  incoming_batch part = std::move(gathered_);
  interrupt(lock, why);
  lock.unlock();
  hand_over(std::move(part), deliver_from::anywhere);
}

void pull_reader::on_connection_restored() noexcept {
  bool retrying = false;
  {
    const std::lock_guard lock(mutex_);
    retrying = phase_ == phase::waiting;
  }
  const bool disarmed = retrying && shared_->clock().disarm(retry_);
  std::unique_lock lock(mutex_);
  if (phase_ == phase::lost || (disarmed && phase_ == phase::waiting)) return verify(lock);
  if (phase_ != phase::asking && phase_ != phase::creating) return;
  // The answer was lost with the old connection: ask again instead of waiting for its deadline.
  const request_mux::ticket asked = ticket_;
  lock.unlock();
  if (!shared_->mux().cancel(asked)) return;
  lock.lock();
  if (phase_ == phase::asking || phase_ == phase::creating) verify(lock);
}

void pull_reader::on_connection_gone(const error& why) noexcept {
  std::unique_lock lock(mutex_);
  if (phase_ != phase::over) end(lock, error(why).at(place()));
}

/// No more pulls, questions and timers.
void pull_reader::halt() noexcept {
  stopping_.store(true);
  request_mux::ticket asked;
  incoming_batch part;
  {
    const std::lock_guard lock(mutex_);
    phase_ = phase::over;
    asked = ticket_;
    part = std::move(gathered_);
  }
  give_back(std::move(part));
  runtime& clock = shared_->clock();
  for (timer* t : {static_cast<timer*>(&tick_), static_cast<timer*>(&retry_), static_cast<timer*>(&end_)})
    if (!clock.disarm(*t)) clock.disarm(*t); // one that fired meanwhile may have armed itself a last time
  if (shared_->mux().cancel(asked)) answer_.reader.reset();
}

task<void> pull_reader::stop() {
  const std::shared_ptr<pull_reader> self = shared_from_this();
  self->halt();
  if (self->wire_ != nullptr) co_await self->wire_->stop(self->shared_->settings().drain_timeout);
  self->gate_.close();
}

void pull_reader::abandon() noexcept {
  halt();
  wire_.reset();
  gate_.close();
}

} // namespace millrace::nats::detail
