#include "transport/in_process/consumer.hpp"

#include "protocol/subject.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace millrace::nats::detail::in_process {
namespace {

constexpr std::string_view nak = "-NAK";
constexpr std::string_view ack_and_next = "+NXT";

/// `{"delay": nanoseconds}`; anything else is no delay.
std::optional<duration> delay_of(std::string_view argument) {
  boost::json::error_code failed;
  const boost::json::value parsed =
      boost::json::parse(boost::json::string_view(argument.data(), argument.size()), failed);
  if (failed || !parsed.is_object()) return std::nullopt;
  const boost::json::value* delay = parsed.get_object().if_contains("delay");
  if (delay == nullptr) return duration::zero();
  const auto nanoseconds = delay->to_number<std::int64_t>(failed);
  if (failed) return std::nullopt;
  return duration(nanoseconds);
}

} // namespace

consumer::consumer(jetstream_host& host, const message_store& store, std::string_view stream, std::string_view name,
                   consumer_config config)
    : host_(&host), store_(&store), stream_(stream), name_(name), config_(std::move(config)),
      created_(host.unix_time(host.now())), pulls_(host), active_(host.now()) {
  start_at_policy();
  pending_ = count_pending();
}

bool consumer::selects(const message& m) const noexcept {
  return config_.filter_subject.empty() || matches(config_.filter_subject, m.subject);
}

std::uint64_t consumer::count_pending() const {
  std::uint64_t count = listed_.size();
  for (std::uint64_t s = std::max(next_, store_->first()); s <= store_->last(); ++s)
    if (selects(*store_->find(s)->content)) ++count;
  return count;
}

std::uint64_t consumer::delivered_to() const noexcept { return (listed_.empty() ? next_ : listed_.front()) - 1; }

consumer_position consumer::position() const {
  consumer_position p{delivered_,     delivered_to(),        delivered_,    0,
                      ledger_.size(), ledger_.redelivered(), pulls_.size(), pending_};
  if (delivered_ == 0) return p;
  p.floor_stream_sequence = delivered_to();
  for (const auto& [sequence, entry] : ledger_.entries()) {
    p.floor_stream_sequence = std::min(p.floor_stream_sequence, sequence - 1);
    p.floor_consumer_sequence = std::min(p.floor_consumer_sequence, entry.consumer_sequence - 1);
  }
  return p;
}

void consumer::update(consumer_config config) {
  config_ = std::move(config);
  pending_ = count_pending();
  pump();
}

void consumer::pull(std::string_view reply, std::string_view payload) {
  if (reply.empty()) return;
  auto request = parse_pull_request(payload, host_->now());
  if (!request) return refuse(reply, "400", "Bad Request - " + request.error());
  if (!admit(*request, reply)) return;
  request->reply = reply;
  active_ = host_->now();
  pulls_.add(*std::move(request));
  pump();
}

bool consumer::admit(const pull_request& r, std::string_view reply) {
  if (pulls_.size() >= static_cast<std::size_t>(config_.max_waiting)) {
    pulls_.on_clock(std::to_string(delivered_), std::to_string(delivered_to()));
    if (pulls_.size() >= static_cast<std::size_t>(config_.max_waiting)) {
      refuse(reply, "409", "Exceeded MaxWaiting");
      return false;
    }
  }
  if (!r.no_wait) return true;
  const auto ready = static_cast<std::int64_t>(pending_ + ledger_.queued());
  if (ready == 0 && !r.expires)
    refuse(reply, "404", "No Messages");
  else if (ready > 0 && ready < pulls_.messages_asked())
    refuse(reply, "408", "Requests Pending");
  else
    return true;
  return false;
}

void consumer::refuse(std::string_view reply, std::string_view code, std::string_view description) {
  host_->send(reply, {make_status(reply, code, description), {}});
}

bool consumer::acknowledge(std::uint64_t sequence, std::string_view payload, std::string_view reply) {
  const time_point now = host_->now();
  const ack_ledger::entry* held = ledger_.find(sequence);
  const bool next = payload.starts_with(ack_and_next);
  if (payload.empty() || payload == "+ACK" || payload == "+OK" || next) {
    if (config_.ack == ack_policy::all)
      ledger_.settle_to(sequence);
    else
      ledger_.settle(sequence);
  } else if (payload.starts_with(nak)) {
    negative(sequence, payload.substr(nak.size()));
  } else if (payload == "+TERM") {
    ledger_.settle(sequence);
  } else if (payload == "+WPI" && held != nullptr) {
    ledger_.extend(sequence, now + wait_after(held->deliveries));
  }
  if (next)
    pull(reply, payload.substr(ack_and_next.size()));
  else
    pump();
  return next;
}

void consumer::negative(std::uint64_t sequence, std::string_view argument) {
  const std::size_t first = argument.find_first_not_of(' ');
  const auto delay = first == std::string_view::npos ? std::nullopt : delay_of(argument.substr(first));
  if (delay)
    ledger_.postpone(sequence, host_->now() + *delay);
  else
    ledger_.requeue(sequence);
}

duration consumer::wait_after(std::int64_t deliveries) const noexcept {
  if (config_.backoff.empty()) return duration(config_.ack_wait);
  const auto last = static_cast<std::int64_t>(config_.backoff.size()) - 1;
  return duration(config_.backoff[static_cast<std::size_t>(std::clamp<std::int64_t>(deliveries - 1, 0, last))]);
}

void consumer::on_stored(const message& m) {
  if (!selects(m)) return;
  ++pending_;
  pump();
}

void consumer::on_dropped(std::uint64_t sequence, const message& m) {
  const bool listed = std::erase(listed_, sequence) > 0;
  if (listed || (sequence >= next_ && selects(m))) --pending_;
}

void consumer::on_clock() {
  pulls_.on_clock(std::to_string(delivered_), std::to_string(delivered_to()));
  ledger_.expire(host_->now());
  pump();
  clean_inactive();
}

void consumer::clean_inactive() {
  if (config_.inactive_threshold <= 0 || host_->now() < active_ + duration(config_.inactive_threshold)) return;
  if (pulls_.any_interest())
    active_ = host_->now();
  else
    abandoned_ = true;
}

std::optional<time_point> consumer::next_due() const noexcept {
  std::optional<time_point> due = ledger_.next_due();
  const auto at = [&due](std::optional<time_point> t) {
    if (t) due = due ? std::min(*due, *t) : *t;
  };
  at(pulls_.next_due());
  if (config_.inactive_threshold > 0) at(active_ + duration(config_.inactive_threshold));
  return due;
}

} // namespace millrace::nats::detail::in_process
