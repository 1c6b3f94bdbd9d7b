#include "transport/in_process/pull_queue.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace millrace::nats::detail::in_process {
namespace {

namespace json = boost::json;

bool read(const json::object& from, std::string_view name, std::int64_t& into) {
  const json::value* v = from.if_contains(name);
  if (v == nullptr || v->is_null()) return true;
  json::error_code failed;
  into = v->to_number<std::int64_t>(failed);
  return !failed;
}

std::expected<pull_request, std::string> parse_json(std::string_view text, time_point now) {
  json::error_code failed;
  const json::value parsed = json::parse(json::string_view(text.data(), text.size()), failed);
  if (failed || !parsed.is_object()) return std::unexpected(failed ? failed.message() : "not an object");
  const json::object& object = parsed.get_object();
  pull_request r;
  r.batch = 0;
  std::int64_t expires = 0;
  std::int64_t heartbeat = 0;
  bool ok = read(object, "batch", r.batch) && read(object, "expires", expires) &&
            read(object, "max_bytes", r.max_bytes) && read(object, "idle_heartbeat", heartbeat);
  if (const json::value* v = object.if_contains("no_wait")) {
    ok = ok && v->is_bool();
    r.no_wait = v->is_bool() && v->get_bool();
  }
  if (!ok) return std::unexpected("cannot unmarshal a value");
  if (heartbeat > 0 && heartbeat * 2 > expires) return std::unexpected("heartbeat value too large");
  if (expires != 0) r.expires = now + duration(expires);
  r.heartbeat = duration(heartbeat);
  r.next_heartbeat = now + r.heartbeat;
  return r;
}

void charge(pull_request& r, std::int64_t size) noexcept {
  r.max_bytes -= size;
  if (r.max_bytes == 0) r.batch = 1; // this one, and no more
}

} // namespace

std::expected<pull_request, std::string> parse_pull_request(std::string_view payload, time_point now) {
  const std::size_t first = payload.find_first_not_of(" \t\r\n");
  pull_request r;
  if (first == std::string_view::npos) return r;
  payload.remove_prefix(first);
  if (payload.front() == '{') return parse_json(payload, now);
  std::from_chars(payload.data(), payload.data() + payload.size(), r.batch);
  return r;
}

std::int64_t pull_queue::messages_asked() const noexcept {
  std::int64_t sum = 0;
  for (const pull_request& r : waiting_)
    sum += r.batch;
  return sum;
}

bool pull_queue::any_interest() const noexcept {
  return std::ranges::any_of(waiting_, [this](const pull_request& r) { return host_->has_interest(r.reply); });
}

void pull_queue::answer(const pull_request& r, std::string_view code, std::string_view description) {
  host_->send(r.reply, {make_status(r.reply, code, description), {}});
}

void pull_queue::answer_rest(const pull_request& r, std::string_view code, std::string_view description) {
  const std::string messages = std::to_string(r.batch);
  const std::string bytes = std::to_string(r.max_bytes);
  host_->send(r.reply, {make_status(r.reply, code, description,
                                    {{"Nats-Pending-Messages", messages}, {"Nats-Pending-Bytes", bytes}}),
                        {}});
}

bool pull_queue::is_over(const pull_request& r, time_point now) {
  if (r.expires && *r.expires <= now) {
    answer_rest(r, "408", "Request Timeout");
    return true;
  }
  return !host_->has_interest(r.reply);
}

pull_request* pull_queue::next(std::int64_t size) {
  const time_point now = host_->now();
  while (!waiting_.empty()) {
    pull_request& r = waiting_.front();
    const bool too_big = r.max_bytes > 0 && size > r.max_bytes;
    if (too_big) answer_rest(r, "409", "Message Size Exceeds MaxBytes");
    if (!too_big && !is_over(r, now)) {
      if (r.max_bytes > 0) charge(r, size);
      return &r;
    }
    waiting_.pop_front();
  }
  return nullptr;
}

void pull_queue::served() {
  pull_request r = std::move(waiting_.front());
  waiting_.pop_front();
  if (--r.batch <= 0) return;
  r.served = true;
  r.next_heartbeat = host_->now() + r.heartbeat;
  waiting_.push_back(std::move(r));
}

void pull_queue::on_clock(std::string_view last_consumer, std::string_view last_stream) {
  const time_point now = host_->now();
  std::erase_if(waiting_, [&](const pull_request& r) { return is_over(r, now); });
  for (pull_request& r : waiting_) {
    if (r.heartbeat == duration::zero() || r.next_heartbeat > now) continue;
    r.next_heartbeat = now + r.heartbeat;
    host_->send(r.reply, {make_status(r.reply, "100", "Idle Heartbeat",
                                      {{"Nats-Last-Consumer", last_consumer}, {"Nats-Last-Stream", last_stream}}),
                          {}});
  }
}

void pull_queue::end_one_shots() {
  std::erase_if(waiting_, [&](const pull_request& r) {
    const bool over = r.no_wait && r.served;
    if (over) answer_rest(r, "408", "Request Timeout");
    return over;
  });
}

void pull_queue::end_all(std::string_view code, std::string_view description) {
  for (const pull_request& r : std::exchange(waiting_, {}))
    answer(r, code, description);
}

std::optional<time_point> pull_queue::next_due() const noexcept {
  std::optional<time_point> due;
  const auto at = [&due](time_point t) { due = due ? std::min(*due, t) : t; };
  for (const pull_request& r : waiting_) {
    if (r.expires) at(*r.expires);
    if (r.heartbeat > duration::zero()) at(r.next_heartbeat);
  }
  return due;
}

} // namespace millrace::nats::detail::in_process
