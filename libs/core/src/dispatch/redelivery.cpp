#include "dispatch/redelivery.hpp"

#include <millrace/log.hpp>

#include <algorithm>
#include <charconv>
#include <string>

namespace millrace {
namespace {

constexpr int copy_tries = 5;
constexpr duration first_copy_pause = std::chrono::milliseconds(200);

} // namespace

void redelivery::report(std::string_view what) const {
  log(log_level::warning, "subscription '" + plan_->name + "': " + std::string(what));
}

std::string_view redelivery::copy_address() const noexcept {
  return plan_->retry_to ? std::string_view(*plan_->retry_to) : std::string_view(plan_->retries.address);
}

bool redelivery::spent(incoming& m) const {
  return plan_->max_attempts && plan_->retries.how != retry_path::kind::broker_moves &&
         attempt_of(m) >= *plan_->max_attempts;
}

task<bool> redelivery::apply(incoming& m, settlement wanted, std::string_view why) {
  const bool again = wanted.kind == settlement_kind::retry || wanted.kind == settlement_kind::retry_after;
  if (!again) co_return settle_plainly(m, wanted);
  if (spent(m)) co_return co_await bury(m, wanted, why);
  if (wanted.kind == settlement_kind::retry) co_return co_await retry_now(m);
  co_return co_await retry_later(m, wanted.delay);
}

bool redelivery::settle_plainly(incoming& m, settlement how) const {
  const auto settled = m.settle(how);
  if (settled) [[likely]]
    return true;
  return not_settled(settled.error());
}

/// Whether what the transport said is no failure of the settlement.
[[gnu::cold, gnu::noinline]] bool redelivery::not_settled(const error& why) const {
  if (why == errc::unsupported) return true;
  report("the settlement was refused: " + why.message());
  return false;
}

void redelivery::explain(incoming& m, header_map& headers, std::string_view why) const {
  std::string reason(why.empty() ? "retries used up" : why);
  std::ranges::replace_if(reason, [](char c) { return c == '\r' || c == '\n'; }, ' ');
  headers.set("x-millrace-dead-letter-reason", reason);
  headers.set("x-millrace-dead-letter-attempts", std::to_string(attempt_of(m)));
  headers.set("x-millrace-dead-letter-origin", m.subject());
  headers.set("x-millrace-dead-letter-subscription", plan_->name);
}

/// The message used its attempts up: to the dead-letter destination as it arrived, or rejected.
task<bool> redelivery::bury(incoming& m, settlement wanted, std::string_view why) {
  if (!plan_->dead_letter) {
    report("a message used its " + std::to_string(*plan_->max_attempts) +
           " attempts up and is rejected; no dead_letter is declared");
    co_return settle_plainly(m, {settlement_kind::drop, {}});
  }
  header_map headers = m.headers();
  if (plan_->explain_dead_letters) explain(m, headers, why);
  auto copied = co_await publish_copy(*plan_->dead_letter, m.payload(), headers);
  if (copied) co_return settle_plainly(m, {settlement_kind::ack, {}});
  report("the dead letter was not published, the message is delivered again: " + copied.error().message());
  if (m.delays())
    wanted = {settlement_kind::retry_after, std::max(wanted.delay, first_copy_pause)};
  else
    wanted = {settlement_kind::retry, {}};
  auto settled = m.settle(wanted);
  if (settled) co_return true;
  if (settled.error() == errc::unsupported) {
    background_->spawn(copy_later(std::string(as_text(m.payload())), m.headers(), first_copy_pause), "a retry copy");
  }
  co_return false;
}

/// Requeues. Where the broker keeps no count and attempts are limited, or where it cannot requeue at all, a copy goes
/// out instead.
task<bool> redelivery::retry_now(incoming& m) {
  const bool must_count =
      plan_->max_attempts && m.delivery_count() == 0 && plan_->retries.how == retry_path::kind::addressed;
  if (!must_count) {
    auto settled = m.settle({settlement_kind::retry, {}});
    if (settled) co_return true;
    if (settled.error() != errc::unsupported) {
      report("the settlement was refused: " + settled.error().message());
      co_return false;
    }
  }
  const header_map headers = counted_headers(m);
  auto copied = co_await publish_copy(copy_address(), m.payload(), headers);
  if (copied) co_return settle_plainly(m, {settlement_kind::ack, {}});
  report("the retry copy was not published: " + copied.error().message());
  auto settled = m.settle({settlement_kind::retry, {}});
  if (!settled && settled.error() == errc::unsupported) {
    background_->spawn(copy_later(std::string(as_text(m.payload())), headers, first_copy_pause), "a retry copy");
  }
  co_return settled.has_value();
}

/// The transport delays by itself, or the original is settled and a copy goes out after the delay (at most once).
task<bool> redelivery::retry_later(incoming& m, duration delay) {
  if (m.delays()) co_return settle_plainly(m, {settlement_kind::retry_after, delay});
  if (plan_->retries.how == retry_path::kind::broker_moves) co_return settle_plainly(m, {settlement_kind::retry, {}});
  if (delay <= duration::zero()) co_return co_await retry_now(m);
  std::string payload(as_text(m.payload()));
  header_map headers = counted_headers(m);
  if (!settle_plainly(m, {settlement_kind::ack, {}})) co_return false; // still the broker's: no copy
  background_->spawn(copy_later(std::move(payload), std::move(headers), delay), "a retry copy");
  co_return true;
}

/// Waits, then publishes; a stopping service publishes early rather than lose the message.
task<void> redelivery::copy_later(std::string payload, header_map headers, duration delay) {
  try {
    co_await sleep_for(*runtime_, delay);
  } catch (const operation_cancelled&) {
    report("the shutdown does not wait for a delayed retry: its copy is published now");
  }
  duration pause = first_copy_pause;
  for (int i = 1;; ++i) {
    auto sent = co_await publish_copy(copy_address(), as_bytes(payload), headers);
    if (sent) co_return;
    const bool last = i == copy_tries || sent.error() == errc::closed;
    log(last ? log_level::error : log_level::warning,
        "subscription '" + plan_->name + "': a retry copy was not published" +
            (last ? ", the message is lost: " : ": ") + sent.error().message());
    if (last) co_return;
    try {
      co_await sleep_for(*runtime_, pause);
    } catch (const operation_cancelled&) { // NOLINT(bugprone-empty-catch): try again at once
    }
    pause *= 2;
  }
}

task<result<void>> redelivery::publish_copy(std::string_view destination, bytes_view payload,
                                            const header_map& headers) const {
  const outgoing message{destination, payload, headers.empty() ? nullptr : &headers};
  publish_awaiter copy(*plan_->copies, message);
  auto sent = co_await copy;
  if (!sent) co_return fail(std::move(sent).error());
  co_return result<void>{};
}

header_map redelivery::counted_headers(incoming& m) const {
  header_map headers = m.headers();
  headers.set(retry_count_header, std::to_string(attempt_of(m))); // a broker's own count does not see the copy's past
  return headers;
}

std::uint32_t attempt_of(incoming& m) {
  if (const std::uint32_t counted = m.delivery_count(); counted != 0) return counted;
  const auto copies = m.headers().get(retry_count_header);
  if (!copies) return 1;
  std::uint32_t n = 0;
  const char* const begin = copies->data();
  const char* const end = begin + copies->size();
  if (std::from_chars(begin, end, n).ptr != end) n = 0; // a malformed count is none
  return n + 1 == 0 ? n : n + 1;
}

} // namespace millrace
