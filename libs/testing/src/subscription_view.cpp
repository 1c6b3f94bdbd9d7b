#include <millrace/testing/errors.hpp>
#include <millrace/testing/subscription_view.hpp>

#include "report.hpp"

#include <map>
#include <utility>

namespace millrace::testing {

void subscription_view::failed(const std::string& expected, const std::string& actual) const {
  std::string text = "subscription '" + of_.name + "': expected " + expected + ", got " + actual;
  const auto recorded = deliveries();
  if (!recorded.empty()) {
    text += "\nrecorded on '" + of_.name + "':" + list(recorded);
  } else {
    const std::string elsewhere = record_->published_summary(of_.broker);
    text += "\nnothing was delivered to '" + of_.name + "'; published: " + (elsewhere.empty() ? "nothing" : elsewhere);
  }
  throw expectation_failed(text);
}

/// What was settled last, with what shares its call.
std::vector<recorded_delivery> subscription_view::latest(const std::string& expected) const {
  auto recorded = deliveries();
  if (recorded.empty()) failed(expected, "no delivery");
  const std::uint64_t call = recorded.back().call;
  std::erase_if(recorded, [call](const recorded_delivery& d) { return d.call != call; });
  return recorded;
}

recorded_delivery subscription_view::sole(const std::string& expected) const {
  auto last = latest(expected);
  if (last.size() > 1) failed(expected, "a batch of " + std::to_string(last.size()));
  return std::move(last.front());
}

void subscription_view::payload_differs(const std::string& expected, const recorded_delivery& last,
                                        const result<void>& decoded) const {
  if (!decoded) failed(expected, show_payload(last.payload) + ", which does not decode: " + decoded.error().message());
  failed(expected, show_payload(last.payload));
}

void subscription_view::undecodable(const recorded_delivery& d, const result<void>& decoded) const {
  failed("payloads of the type that is asked for", show_payload(d.payload) + ": " + decoded.error().message());
}

const subscription_view& subscription_view::called(std::size_t n) const {
  const std::size_t calls = record_->calls(of_);
  if (calls != n) failed(show_count(n, "call", "calls"), show_count(calls, "call", "calls"));
  return *this;
}

const subscription_view& subscription_view::with_text(std::string_view payload) const {
  const auto last = sole("a delivery with " + show_payload(payload));
  if (last.payload != payload) failed(show_payload(payload), show_payload(last.payload));
  return *this;
}

const subscription_view& subscription_view::header(std::string_view name, std::string_view value) const {
  const std::string expected = "header " + std::string(name) + ": " + show_payload(value);
  const auto last = sole(expected);
  const auto actual = last.headers.get(name);
  if (!actual) failed(expected, "no such header");
  if (*actual != value) failed(expected, show_payload(*actual));
  return *this;
}

const subscription_view& subscription_view::settled(const outcome& how) const {
  const settlement wanted{how.kind(), how.delay()};
  for (const auto& d : latest(show_settlement(wanted))) {
    const bool same = d.settled && d.settled->kind == wanted.kind && d.settled->delay == wanted.delay;
    if (!same) failed(show_settlement(wanted), show_ending(d));
  }
  return *this;
}

const subscription_view& subscription_view::left_unsettled() const {
  for (const auto& d : latest("a delivery left unsettled")) {
    if (d.settled) failed("unsettled", show_ending(d));
  }
  return *this;
}

const subscription_view& subscription_view::assert_outcome(outcome_kind kind) const {
  for (const auto& d : latest(std::string(to_string(kind)))) {
    if (d.kind() != kind) failed(std::string(to_string(kind)), std::string(to_string(d.kind())));
  }
  return *this;
}

const subscription_view& subscription_view::attempts(std::uint32_t n) const {
  const auto last = sole("attempt " + std::to_string(n));
  if (last.attempt != n) failed("attempt " + std::to_string(n), "attempt " + std::to_string(last.attempt));
  return *this;
}

std::vector<std::string> subscription_view::received_text() const {
  std::vector<std::string> texts;
  for (auto& d : deliveries()) {
    if (d.reached_handler()) texts.push_back(std::move(d.payload));
  }
  return texts;
}

std::vector<std::size_t> subscription_view::batch_sizes() const {
  std::map<std::uint64_t, std::size_t> calls;
  for (const auto& d : deliveries()) {
    if (d.reached_handler()) calls[d.call] = d.batch_size;
  }
  std::vector<std::size_t> sizes;
  for (const auto& [call, size] : calls)
    sizes.push_back(size);
  return sizes;
}

std::vector<outcome_kind> subscription_view::outcomes() const {
  std::vector<outcome_kind> kinds;
  for (const auto& d : deliveries())
    kinds.push_back(d.kind());
  return kinds;
}

} // namespace millrace::testing
