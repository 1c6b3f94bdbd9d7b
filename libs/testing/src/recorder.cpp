#include <millrace/testing/record.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace millrace::testing {
namespace {

bool names(const record_filter& of, std::string_view broker, std::string_view name) noexcept {
  return of.name == name && (of.broker.empty() || of.broker == broker);
}

bool names(const record_filter& of, const recorded_publish& p) noexcept {
  return names(of, p.broker, of.by_output ? p.output : p.destination);
}

} // namespace

std::string_view to_string(outcome_kind kind) noexcept {
  switch (kind) {
  case outcome_kind::ack:
    return "ack";
  case outcome_kind::nack:
    return "nack";
  case outcome_kind::nack_after:
    return "nack after";
  case outcome_kind::drop:
    return "drop";
  case outcome_kind::decode_failure:
    return "decode failure";
  case outcome_kind::exception:
    return "exception";
  case outcome_kind::unsettled:
    return "unsettled";
  }
  return "?";
}

outcome_kind recorded_delivery::kind() const noexcept {
  if (failed == handled_event::failure::decode) return outcome_kind::decode_failure;
  if (failed == handled_event::failure::exception) return outcome_kind::exception;
  if (failed == handled_event::failure::cancelled || !settled) return outcome_kind::unsettled;
  switch (settled->kind) {
  case settlement_kind::ack:
    return outcome_kind::ack;
  case settlement_kind::retry:
    return outcome_kind::nack;
  case settlement_kind::retry_after:
    return outcome_kind::nack_after;
  case settlement_kind::drop:
    return outcome_kind::drop;
  }
  return outcome_kind::unsettled;
}

void recorder::handled(const handled_event& event) noexcept {
  recorded_delivery seen;
  seen.broker = event.broker;
  seen.subscription = event.subscription;
  seen.subject = event.subject;
  seen.payload = as_text(event.payload);
  if (event.headers != nullptr) seen.headers = *event.headers;
  seen.attempt = event.attempt;
  seen.failed = event.failed;
  seen.settled = event.settled;
  seen.failure_text = event.failure_text;
  seen.call = event.call;
  seen.batch_size = event.batch_size;
  {
    const std::scoped_lock lock(mutex_);
    deliveries_.push_back(std::move(seen));
  }
  announce();
}

void recorder::published(const published_event& event) noexcept {
  recorded_publish seen;
  seen.broker = event.broker;
  seen.destination = event.destination;
  seen.payload = as_text(event.payload);
  if (event.headers != nullptr) seen.headers = *event.headers;
  seen.output = event.output;
  {
    const std::scoped_lock lock(mutex_);
    publishes_.push_back(std::move(seen));
  }
  announce();
}

std::vector<recorded_delivery> recorder::deliveries(const record_filter& of) const {
  const std::scoped_lock lock(mutex_);
  std::vector<recorded_delivery> found;
  for (const auto& d : deliveries_) {
    if (names(of, d.broker, d.subscription)) found.push_back(d);
  }
  return found;
}

std::vector<recorded_publish> recorder::publishes(const record_filter& of) const {
  const std::scoped_lock lock(mutex_);
  std::vector<recorded_publish> found;
  for (const auto& p : publishes_) {
    if (names(of, p)) found.push_back(p);
  }
  return found;
}

/// A call counts when all of its messages are settled.
std::size_t recorder::calls(const record_filter& of) const {
  const std::scoped_lock lock(mutex_);
  std::map<std::uint64_t, std::size_t> begun;
  std::size_t complete = 0;
  for (const auto& d : deliveries_) {
    if (!names(of, d.broker, d.subscription) || !d.reached_handler()) continue;
    if (++begun[d.call] == d.batch_size) ++complete;
  }
  return complete;
}

std::size_t recorder::publish_count(const record_filter& of) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(publishes_, [&](const recorded_publish& p) { return names(of, p); }));
}

std::string recorder::published_summary(std::string_view broker) const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string_view, std::size_t> counts;
  for (const auto& p : publishes_) {
    if (broker.empty() || p.broker == broker) ++counts[p.destination];
  }
  std::string text;
  for (const auto& [destination, count] : counts) {
    if (!text.empty()) text += ", ";
    text += "'" + std::string(destination) + "' " + std::to_string(count);
  }
  return text;
}

void recorder::begin_reaction() {
  const std::scoped_lock lock(mutex_);
  deliveries_before_ = deliveries_.size();
  publishes_before_ = publishes_.size();
}

result<void> recorder::within(std::size_t limit) const {
  const std::scoped_lock lock(mutex_);
  if (deliveries_.size() - deliveries_before_ <= limit && publishes_.size() - publishes_before_ <= limit) return {};
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = deliveries_before_; i < deliveries_.size(); ++i) {
    ++counts["subscription '" + deliveries_[i].subscription + "'"];
  }
  for (std::size_t i = publishes_before_; i < publishes_.size(); ++i) {
    ++counts["the publishes to '" + publishes_[i].destination + "'"];
  }
  const auto busiest = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return fail(errc::timeout, "the reaction does not end: more than " + std::to_string(limit) +
                                 " messages; the busiest: " + busiest->first + ", " + std::to_string(busiest->second));
}

bool recorder::wait(std::chrono::nanoseconds bound, const std::function<bool()>& done) const {
  const auto due = std::chrono::steady_clock::now() + bound;
  for (;;) {
    std::uint64_t seen = 0;
    {
      const std::scoped_lock lock(mutex_);
      seen = changes_;
    }
    if (done()) return true;
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, due, [&] { return changes_ != seen; })) return false;
  }
}

void recorder::announce() const {
  {
    const std::scoped_lock lock(mutex_);
    ++changes_;
  }
  changed_.notify_all();
}

} // namespace millrace::testing
