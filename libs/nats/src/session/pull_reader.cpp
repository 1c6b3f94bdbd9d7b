#include "session/pull_reader.hpp"

#include "protocol/js_api.hpp"

#include <millrace/nats/errors.hpp>
#include <millrace/nats/fields.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace millrace::nats::detail {
namespace {

constexpr std::uint64_t most_deliveries = 65536; // far above any window; a bound for a server that sends unasked
constexpr std::uint32_t ceiling = 1024;
constexpr duration answer_slack = std::chrono::milliseconds(10); // for the server to say that a request is over
constexpr duration longest_sweep = std::chrono::seconds(1);

std::unique_ptr<pull_strategy> single_messages(const jetstream& source, unsigned workers) {
  pull_machine::config c;
  c.window = source.pull_window();
  c.floor = 2 * std::max(1U, workers);
  c.ceiling = static_cast<std::uint32_t>(std::min<std::int64_t>(source.max_ack_pending(), ceiling));
  c.ack_wait = source.ack_wait();
  return std::make_unique<pull_machine>(c);
}

std::unique_ptr<pull_strategy> strategy_of(const jetstream& source, const open_options& options) {
  if (options.batch_size == 0) return single_messages(source, options.workers);
  const std::uint64_t asked = options.batch_size * std::uint64_t{std::max(1U, options.workers)};
  const std::uint64_t window = source.pull_window() != 0 ? source.pull_window() : asked;
  fetch_machine::config c;
  c.window = static_cast<std::uint32_t>(
      std::min({window, static_cast<std::uint64_t>(source.max_ack_pending()), most_deliveries}));
  c.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch_size, c.window));
  c.waits = options.batch_wait > duration::zero();
  return std::make_unique<fetch_machine>(c);
}

std::string_view request_text(const jetstream& source, duration batch_wait, const pull_action& action,
                              pull_storage& storage) {
  switch (action.how) {
  case pull_kind::sweep:
    return sweep_request(action.pull, storage);
  case pull_kind::rest:
    return pull_request(action.pull, batch_wait, duration::zero(), storage);
  case pull_kind::open:
    break;
  }
  return pull_request(action.pull, source.pull_expires(), source.idle_heartbeat(), storage);
}

std::int64_t read_count(std::string_view text) noexcept {
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

} // namespace

pull_reader::reader_timer::reader_timer(pull_reader& r, void (pull_reader::*f)() noexcept) noexcept
    : timer([](timer& t) noexcept {
        auto& self = static_cast<reader_timer&>(t);
        (self.reader->*self.fire_at)();
      }),
      reader(&r), fire_at(f) {}

pull_reader::pull_reader(std::shared_ptr<connection> shared, jetstream source, std::string consumer, sink& to,
                         const open_options& options)
    : shared_(std::move(shared)), source_(std::move(source)), batch_wait_(options.batch_wait), sink_(to),
      from_(shared_->delivers_from()), account_(std::make_shared<pull_account>(shared_)),
      pool_(jetstream_pool::make(account_, most_deliveries)), strategy_(strategy_of(source_, options)),
      fetches_(dynamic_cast<fetch_machine*>(strategy_.get())), consumer_(std::move(consumer)),
      tick_(*this, &pull_reader::tick), retry_(*this, &pull_reader::retry), end_(*this, &pull_reader::overdue) {
  if (source_.durable().empty()) account_->unsettled = std::make_unique<unsettled_sequences>();
}

result<void> pull_reader::start() {
  account_->reader = weak_from_this();
  inbox_ = shared_->wire().new_inbox() + '.';
  auto made = shared_->wire().subscribe(inbox_ + '*', {}, *this, most_deliveries);
  if (!made) return fail(std::move(made.error()));
  wire_ = std::move(*made);
  std::unique_lock lock(mutex_);
  runtime& clock = shared_->clock();
  clock.arm(tick_, clock.now() + source_.idle_heartbeat());
  act(lock, strategy_->restart(totals(), clock.now()));
  return {};
}

pull_totals pull_reader::totals() const noexcept {
  // Received last: what is released was received before.
  pull_totals t;
  const std::uint64_t dropped = dropped_.load(std::memory_order_acquire);
  t.released = account_->released.load() + dropped;
  t.received = received_.load(std::memory_order_acquire) + dropped;
  return t;
}

std::string pull_reader::place() const { return "stream '" + source_.stream() + "', subject '" + source_.name() + "'"; }

void pull_reader::on_message(received message, bool more) noexcept {
  // After an outage one may come that waits in the burst already, which is known only when that one is settled.
  if (suspicious_.load(std::memory_order_relaxed) && !is_new(message)) [[unlikely]]
    hand_over_burst();
  take(std::move(message));
  if (!more || burst_.size() >= jetstream_pool::together) hand_over_burst();
}

bool pull_reader::is_new(const received& message) noexcept {
  const std::optional<message_identity> it = identify(message.reply());
  if (!it) return false;
  const std::uint64_t before = std::exchange(newest_, std::max(newest_, it->stream_sequence));
  return before != 0 && it->stream_sequence > before;
}

void pull_reader::hand_over_burst() noexcept {
  if (!burst_.empty()) sink_.deliver(std::exchange(burst_, {}), from_);
}

void pull_reader::take(received message) noexcept {
  if (message.payload().empty()) [[unlikely]]
    if (const unsigned code = status_of(message); code != 0) return on_status(code, message);
  received_.store(received_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (suspicious_.load(std::memory_order_relaxed) && account_->settled.contains(message.reply())) [[unlikely]]
    return send_back(message, "+ACK");
  jetstream_delivery* const node = stopping_.load(std::memory_order_relaxed) ? nullptr : pool_->take();
  if (node == nullptr) [[unlikely]]
    return send_back(message, "-NAK"); // to whoever else reads this consumer, at once
  if (account_->unsettled != nullptr)
    if (const std::optional<message_identity> it = identify(message.reply()))
      account_->unsettled->delivered(it->stream_sequence);
  node->load(std::move(message), account_->consumer_generation.load(std::memory_order_relaxed));
  if (fetches_ != nullptr) return gather(node);
  burst_.push(*node);
}

/// Settles a message that no handler sees.
void pull_reader::send_back(const received& message, std::string_view answer) noexcept {
  wire_message back;
  back.subject = message.reply();
  back.payload = as_bytes(answer);
  (void)shared_->wire().publish(back);
  account_->released.fetch_add(1);
  if (fetches_ != nullptr) gather(nullptr);
}

/// Null: a message that the request brought, but no handler sees.
void pull_reader::gather(jetstream_delivery* message) noexcept {
  incoming_batch arrived;
  if (message != nullptr) arrived.push(*message);
  std::unique_lock lock(mutex_);
  if (phase_ == phase::over) {
    lock.unlock();
    return give_back(std::move(arrived));
  }
  gathered_.append(std::move(arrived));
  const pull_action next = fetches_->on_message(message != nullptr, totals());
  if (next.batch_ends || next.pull > 0) act(lock, next, from_);
}

/// To whoever else reads this consumer, at once.
void pull_reader::give_back(incoming_batch messages) noexcept {
  while (incoming* m = messages.pop()) {
    (void)m->settle({settlement_kind::retry, {}});
    m->release();
  }
}

void pull_reader::hand_over(incoming_batch batch, deliver_from where) noexcept {
  if (batch.empty()) return;
  // What the transport delivers needs no gate: it stops before the gate closes, and handlers may run in this call.
  if (where == deliver_from::io_thread) return sink_.deliver(std::move(batch), where);
  if (const call_gate::pass pass(gate_); pass) return sink_.deliver(std::move(batch), where);
  give_back(std::move(batch));
}

void pull_reader::on_status(unsigned code, const received& message) noexcept {
  const std::string_view subject = message.subject();
  std::uint32_t epoch = 0;
  const std::string_view token = subject.substr(subject.rfind('.') + 1);
  std::from_chars(token.data(), token.data() + token.size(), epoch);
  std::unique_lock lock(mutex_);
  if (phase_ != phase::running) return;
  act(lock,
      strategy_->on_status(code, message.header("Description"), read_count(message.header("Nats-Pending-Messages")),
                           epoch, totals()),
      from_);
}

void pull_reader::on_dropped(std::uint64_t count) noexcept {
  // The client lost messages of a stream: they come back after ack_wait, and are room again.
  dropped_.fetch_add(count, std::memory_order_acq_rel);
}

void pull_reader::on_released() noexcept {
  std::unique_lock lock(mutex_);
  if (phase_ != phase::running) return;
  act(lock, strategy_->on_released(totals(), shared_->clock().now()));
}

/// Says from which release on the machine wants to hear again. Releases that passed that point meanwhile are told here,
/// since their threads saw the old one.
void pull_reader::listen(pull_action& action) noexcept {
  for (;;) {
    const std::uint64_t at = account_->released.load() + strategy_->release_step(totals());
    account_->tell_at.store(at);
    if (account_->released.load() < at) return;
    const pull_action more = strategy_->on_released(totals(), shared_->clock().now());
    if (more.pull == 0) continue;
    action.pull += more.pull;
    action.how = more.how;
  }
}

/// Does what the strategy advises. The lock is given up before anything is sent or handed over.
void pull_reader::act(std::unique_lock<std::mutex>& lock, pull_action action, deliver_from where) noexcept {
  listen(action);
  incoming_batch whole;
  if (action.batch_ends || action.then != pull_advice::none) whole = std::move(gathered_);
  if (action.then == pull_advice::gone) deleted_ = true;
  if (action.then != pull_advice::none) {
    verify(lock);
  } else {
    const std::uint32_t epoch = strategy_->epoch();
    if (action.pull > 0 && action.how != pull_kind::open) expect_end(action);
    const std::string subject = action.pull > 0 ? next_subject(source_.stream(), consumer_) : std::string();
    lock.unlock();
    if (action.pull > 0) send_pull(subject, action, epoch);
  }
  hand_over(std::move(whole), where);
}

void pull_reader::send_pull(const std::string& subject, const pull_action& action, std::uint32_t epoch) noexcept {
  const std::string reply = inbox_ + std::to_string(epoch);
  pull_storage storage;
  wire_message out;
  out.subject = subject;
  out.reply = reply;
  out.payload = as_bytes(request_text(source_, batch_wait_, action, storage));
  (void)shared_->wire().publish(out); // refused: the connection is gone, or the missing heartbeat tells
}

void pull_reader::tick() noexcept {
  std::unique_lock lock(mutex_);
  if (phase_ == phase::over) return;
  runtime& clock = shared_->clock();
  clock.arm(tick_, clock.now() + source_.idle_heartbeat());
  if (phase_ == phase::running) act(lock, strategy_->on_tick(totals()));
}

/// Under the lock. The timer stays armed while fetches follow each other, and looks at the latest when it fires.
void pull_reader::expect_end(const pull_action& action) noexcept {
  runtime& clock = shared_->clock();
  end_epoch_ = strategy_->epoch();
  end_due_ = clock.now() + (action.how == pull_kind::rest ? batch_wait_ + answer_slack : longest_sweep);
  if (!std::exchange(end_armed_, true)) clock.arm(end_, end_due_);
}

void pull_reader::overdue() noexcept {
  std::unique_lock lock(mutex_);
  end_armed_ = false;
  if (phase_ == phase::over) return;
  runtime& clock = shared_->clock();
  if (clock.now() < end_due_) {
    end_armed_ = true;
    return clock.arm(end_, end_due_);
  }
  if (phase_ == phase::running) act(lock, fetches_->on_overdue(end_epoch_, totals()));
}

void pull_reader::retry() noexcept {
  std::unique_lock lock(mutex_);
  if (phase_ == phase::waiting) verify(lock);
}

} // namespace millrace::nats::detail
