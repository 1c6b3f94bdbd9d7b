#include <millrace/testing/errors.hpp>
#include <millrace/testing/published_view.hpp>

#include "report.hpp"

namespace millrace::testing {

void published_view::failed(const std::string& expected, const std::string& actual) const {
  std::string text = "published to '" + of_.name + "': expected " + expected + ", got " + actual;
  const auto recorded = messages();
  if (!recorded.empty()) {
    text += "\nrecorded on '" + of_.name + "':" + list(recorded);
  } else {
    const std::string elsewhere = record_->published_summary(of_.broker);
    text += "\npublished elsewhere: " + (elsewhere.empty() ? "nothing" : elsewhere);
  }
  throw expectation_failed(text);
}

recorded_publish published_view::latest(const std::string& expected) const {
  auto recorded = messages();
  if (recorded.empty()) failed(expected, "no message");
  return std::move(recorded.back());
}

void published_view::payload_differs(const std::string& expected, const recorded_publish& last,
                                     const result<void>& decoded) const {
  if (!decoded) failed(expected, show_payload(last.payload) + ", which does not decode: " + decoded.error().message());
  failed(expected, show_payload(last.payload));
}

void published_view::undecodable(const recorded_publish& p, const result<void>& decoded) const {
  failed("payloads of the type that is asked for", show_payload(p.payload) + ": " + decoded.error().message());
}

const published_view& published_view::count(std::size_t n) const {
  const std::size_t actual = messages().size();
  if (actual != n) failed(show_count(n, "message", "messages"), show_count(actual, "message", "messages"));
  return *this;
}

const published_view& published_view::with_text(std::string_view payload) const {
  const auto last = latest("a message with " + show_payload(payload));
  if (last.payload != payload) failed(show_payload(payload), show_payload(last.payload));
  return *this;
}

const published_view& published_view::header(std::string_view name, std::string_view value) const {
  const std::string expected = "header " + std::string(name) + ": " + show_payload(value);
  const auto last = latest(expected);
  const auto actual = last.headers.get(name);
  if (!actual) failed(expected, "no such header");
  if (*actual != value) failed(expected, show_payload(*actual));
  return *this;
}

std::vector<std::string> published_view::texts() const {
  std::vector<std::string> all;
  for (auto& p : messages())
    all.push_back(std::move(p.payload));
  return all;
}

} // namespace millrace::testing
