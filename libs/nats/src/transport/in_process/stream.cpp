#include "transport/in_process/stream.hpp"

#include "protocol/subject.hpp"
#include "transport/in_process/patterns.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace millrace::nats::detail::in_process {
namespace {

/// An expected sequence. Absent if empty; what is no number matches nothing, as on the server.
std::optional<std::uint64_t> expected_sequence(const message& m, std::string_view header) {
  const std::string_view text = exact_header(m, header);
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc{} && end == text.data() + text.size()) return value;
  return std::numeric_limits<std::uint64_t>::max();
}

std::string quoted(std::string_view text) {
  return boost::json::serialize(boost::json::value(boost::json::string_view(text.data(), text.size())));
}

/// The members of an error object.
std::string refusal_text(int code, int err_code, std::string_view description) {
  return R"("code":)" + std::to_string(code) + R"(,"err_code":)" + std::to_string(err_code) + R"(,"description":)" +
         quoted(description);
}

} // namespace

stream::stream(jetstream_host& host, std::string_view name)
    : host_(&host), name_(name), created_(host.unix_time(host.now())), store_(host.limits()) {}

bool stream::serves(std::string_view subject) const noexcept {
  return std::ranges::any_of(subjects_, [&](const std::string& each) { return matches(each, subject); });
}

void stream::serve(std::string_view subject) {
  const bool known = std::ranges::any_of(subjects_, [&](const std::string& each) { return covers(each, subject); });
  if (!known) subjects_.emplace_back(subject);
}

void stream::serve_filter(std::string_view filter) {
  filtered_ = true;
  serve(filter);
}

std::string stream::publish(const message_ptr& m) {
  const auto refused = [this](std::string_view error) {
    return R"({"error":{)" + std::string(error) + R"(},"stream":)" + quoted(name_) + R"(,"seq":0})";
  };
  const std::string_view expected = exact_header(*m, "Nats-Expected-Stream");
  if (!expected.empty() && expected != name_)
    return refused(refusal_text(400, 10060, "expected stream does not match"));
  const std::string accepted = R"({"stream":)" + quoted(name_) + R"(, "seq":)";
  if (const auto sequence = duplicate_of(*m)) return accepted + std::to_string(*sequence) + R"(,"duplicate": true})";
  if (const auto why = refusal(*m)) return refused(*why);

  const std::uint64_t sequence = store_.append(m, host_->unix_time(host_->now()));
  last_id_ = exact_header(*m, "Nats-Msg-Id");
  remember(last_id_, sequence);
  drop_excess();
  for (const auto& c : consumers_)
    c->on_stored(*m);
  return accepted + std::to_string(sequence) + '}';
}

/// The expectations, in the server's order.
std::optional<std::string> stream::refusal(const message& m) const {
  const auto wrong_sequence = [](std::uint64_t last) {
    return refusal_text(400, 10071, "wrong last sequence: " + std::to_string(last));
  };
  const std::uint64_t last_of_subject = store_.last_of(m.subject);
  const auto of_subject = expected_sequence(m, "Nats-Expected-Last-Subject-Sequence");
  if (of_subject && *of_subject != last_of_subject) return wrong_sequence(last_of_subject);
  const auto of_stream = expected_sequence(m, "Nats-Expected-Last-Sequence");
  if (of_stream && *of_stream != store_.last()) return wrong_sequence(store_.last());
  const std::string_view id = exact_header(m, "Nats-Expected-Last-Msg-Id");
  if (!id.empty() && id != last_id_) return refusal_text(400, 10070, "wrong last msg ID: " + last_id_);
  if (!exact_header(m, "Nats-Rollup").empty()) return refusal_text(500, 10111, "rollup not permitted");
  return std::nullopt;
}

std::optional<std::uint64_t> stream::duplicate_of(const message& m) {
  while (!ids_by_age_.empty() && ids_by_age_.front().first + duplicate_window <= host_->now()) {
    ids_.erase(ids_by_age_.front().second);
    ids_by_age_.pop_front();
  }
  const std::string_view id = exact_header(m, "Nats-Msg-Id");
  if (id.empty()) return std::nullopt;
  const auto at = ids_.find(std::string(id));
  if (at == ids_.end()) return std::nullopt;
  return at->second;
}

void stream::remember(std::string_view id, std::uint64_t sequence) {
  if (id.empty()) return;
  ids_.emplace(id, sequence);
  ids_by_age_.emplace_back(host_->now(), id);
}

void stream::drop_excess() {
  while (store_.over_limit()) {
    const std::uint64_t sequence = store_.first();
    const message_ptr dropped = store_.drop_oldest();
    for (const auto& c : consumers_)
      c->on_dropped(sequence, *dropped);
  }
}

consumer* stream::find(std::string_view name) const noexcept {
  const auto at = std::ranges::find_if(consumers_, [&](const auto& c) { return c->name() == name; });
  return at == consumers_.end() ? nullptr : at->get();
}

consumer& stream::add(std::string_view name, consumer_config config) {
  consumers_.push_back(std::make_unique<consumer>(*host_, store_, name_, name, std::move(config)));
  return *consumers_.back();
}

bool stream::remove(std::string_view name) {
  const auto at = std::ranges::find_if(consumers_, [&](const auto& c) { return c->name() == name; });
  if (at == consumers_.end()) return false;
  (*at)->on_deleted();
  consumers_.erase(at);
  return true;
}

void stream::on_clock() {
  for (const auto& c : consumers_)
    c->on_clock();
  std::erase_if(consumers_, [](const auto& c) { return c->abandoned(); });
}

std::optional<time_point> stream::next_due() const noexcept {
  std::optional<time_point> due;
  for (const auto& c : consumers_)
    if (const auto at = c->next_due()) due = due ? std::min(*due, *at) : at;
  return due;
}

} // namespace millrace::nats::detail::in_process
