#include "cloud/message_queue.hpp"

#include <algorithm>
#include <charconv>

namespace millrace::pubsub::detail {
namespace {

constexpr int most_in_a_response = 500;
constexpr std::size_t most_bytes_in_a_response = 1024UL * 1024;

duration duration_of(const wire::Duration& d) {
  return std::chrono::seconds(d.seconds()) + std::chrono::nanoseconds(d.nanos());
}

} // namespace

message_queue::message_queue(wire::Subscription settings)
    : settings_(std::move(settings)), filter_(*parse_filter(settings_.filter())) {}

bool message_queue::consumer::has_room() const noexcept {
  return (most_messages <= 0 || messages < most_messages) && (most_bytes <= 0 || bytes < most_bytes);
}

bool message_queue::ordered(const entry& e) const {
  return settings_.enable_message_ordering() && !e.message->message.ordering_key().empty();
}

void message_queue::publish(message_ptr message) {
  if (!filter_(message->message)) return;
  const std::uint64_t sequence = message->sequence;
  ready_.emplace(sequence, entry{std::move(message), 0});
}

std::optional<std::uint64_t> message_queue::number_of(const std::string& ack_id) const {
  const std::size_t colon = settings_.name().size();
  if (!ack_id.starts_with(settings_.name()) || ack_id.size() <= colon || ack_id[colon] != ':') return std::nullopt;
  std::uint64_t number = 0;
  std::from_chars(ack_id.data() + colon + 1, ack_id.data() + ack_id.size(), number);
  return number;
}

message_queue::consumer* message_queue::find(const cloud_stream* to) {
  const auto at = std::ranges::find_if(streams_, [&](const auto& c) { return c->to == to; });
  return at == streams_.end() ? nullptr : at->get();
}

/// The delivery is over, whatever becomes of its message.
message_queue::delivery message_queue::take(out_map::iterator at) {
  delivery d = std::move(at->second);
  out_.erase(at);
  deadlines_.erase(d.deadline);
  if (consumer* const c = find(d.to); c != nullptr) {
    --c->messages;
    c->bytes -= static_cast<std::int64_t>(d.what.message->bytes);
  }
  if (!ordered(d.what)) return d;
  const auto key = keys_.find(d.what.message->message.ordering_key());
  if (--key->second.out == 0 && key->second.delayed == 0) keys_.erase(key);
  return d;
}

bool message_queue::acknowledge(const std::string& ack_id) {
  const auto number = number_of(ack_id);
  const auto at = number ? out_.find(*number) : out_.end();
  if (at == out_.end()) return false;
  (void)take(at);
  return true;
}

bool message_queue::modify(const std::string& ack_id, std::chrono::seconds deadline, time_point now) {
  const auto number = number_of(ack_id);
  const auto at = number ? out_.find(*number) : out_.end();
  if (at == out_.end()) return false;
  if (deadline == duration::zero()) {
    give_back(take(at), now);
    return true;
  }
  deadlines_.erase(at->second.deadline);
  at->second.deadline = deadlines_.emplace(now + deadline, *number);
  return true;
}

void message_queue::give_back(delivery d, time_point now) {
  if (ordered(d.what)) give_back_followers(d.what);
  return_to_queue(std::move(d.what), now);
}

/// In order means: what was delivered behind a refused message comes again, behind it.
void message_queue::give_back_followers(const entry& e) {
  const std::string& key = e.message->message.ordering_key();
  std::vector<std::uint64_t> behind;
  for (const auto& [number, d] : out_) {
    const stored_message& m = *d.what.message;
    if (m.sequence > e.message->sequence && m.message.ordering_key() == key) behind.push_back(number);
  }
  for (const std::uint64_t number : behind) {
    delivery d = take(out_.find(number));
    const std::uint64_t sequence = d.what.message->sequence;
    ready_.emplace(sequence, std::move(d.what));
  }
}

duration message_queue::pause_of(const entry& e) const {
  if (!settings_.has_retry_policy()) return {};
  const duration first = duration_of(settings_.retry_policy().minimum_backoff());
  const duration most = duration_of(settings_.retry_policy().maximum_backoff());
  duration pause = first;
  for (std::uint32_t i = 1; i < e.attempts && pause < most; ++i)
    pause *= 2;
  return most > duration::zero() ? std::min(pause, most) : pause;
}

void message_queue::return_to_queue(entry e, time_point now) {
  if (settings_.has_dead_letter_policy()) {
    const auto most = static_cast<std::uint32_t>(settings_.dead_letter_policy().max_delivery_attempts());
    if (e.attempts >= most) {
      spent_.push_back({std::move(e.message), e.attempts});
      return;
    }
  }
  const duration pause = pause_of(e);
  const std::uint64_t sequence = e.message->sequence;
  if (pause <= duration::zero()) {
    ready_.emplace(sequence, std::move(e));
    return;
  }
  if (ordered(e)) ++keys_[e.message->message.ordering_key()].delayed;
  delayed_.emplace(now + pause, std::move(e));
}

void message_queue::attach(cloud_stream& to, const wire::StreamingPullRequest& first) {
  auto c = std::make_unique<consumer>();
  c->to = &to;
  c->most_messages = first.max_outstanding_messages();
  c->most_bytes = first.max_outstanding_bytes();
  c->deadline = std::chrono::seconds(first.stream_ack_deadline_seconds());
  auto* const properties = c->filling.mutable_subscription_properties();
  properties->set_exactly_once_delivery_enabled(settings_.enable_exactly_once_delivery());
  properties->set_message_ordering_enabled(settings_.enable_message_ordering());
  streams_.push_back(std::move(c));
  send(*streams_.back());
}

void message_queue::detach(cloud_stream& from) {
  std::erase_if(streams_, [&](const auto& c) { return c->to == &from; });
  for (auto& [number, d] : out_)
    if (d.to == &from) d.to = nullptr;
  for (auto& [key, state] : keys_)
    if (state.to == &from) state.to = nullptr;
}

void message_queue::change_deadline(cloud_stream& of, std::chrono::seconds deadline) {
  if (consumer* const c = find(&of); c != nullptr) c->deadline = deadline;
}

void message_queue::end_streams(const call_status& why) {
  while (!streams_.empty()) {
    cloud_stream& to = *streams_.back()->to;
    detach(to);
    to.end(why);
  }
}

/// Whose turn it is; null: the message waits. A key that is out stays with its stream.
message_queue::consumer* message_queue::consumer_for(const entry& e) {
  if (ordered(e)) {
    const auto key = keys_.find(e.message->message.ordering_key());
    if (key != keys_.end()) {
      if (key->second.delayed > 0) return nullptr;
      consumer* const c = find(key->second.to);
      return c != nullptr && c->has_room() ? c : nullptr;
    }
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    consumer* const c = streams_[rotation_++ % streams_.size()].get();
    if (c->has_room()) return c;
  }
  return nullptr;
}

void message_queue::hand(consumer& to, entry e, time_point now) {
  ++e.attempts;
  ++to.messages;
  to.bytes += static_cast<std::int64_t>(e.message->bytes);
  const std::uint64_t number = ++last_ack_;
  wire::ReceivedMessage& sent = *to.filling.add_received_messages();
  sent.set_ack_id(settings_.name() + ":" + std::to_string(number));
  *sent.mutable_message() = e.message->message;
  if (settings_.has_dead_letter_policy()) sent.set_delivery_attempt(static_cast<std::int32_t>(e.attempts));
  if (ordered(e)) {
    key_state& key = keys_[e.message->message.ordering_key()];
    key.to = to.to;
    ++key.out;
  }
  const auto deadline = deadlines_.emplace(now + to.deadline, number);
  const std::size_t bytes = e.message->bytes;
  out_.emplace(number, delivery{std::move(e), to.to, deadline});
  const bool full = to.filling.received_messages_size() >= most_in_a_response;
  if (full || bytes * static_cast<std::size_t>(to.filling.received_messages_size()) >= most_bytes_in_a_response)
    send(to);
}

void message_queue::send(consumer& from) {
  from.to->send(from.filling);
  from.filling.Clear();
}

void message_queue::send_filled() {
  for (const auto& c : streams_)
    if (c->filling.received_messages_size() > 0) send(*c);
}

void message_queue::hand_out(time_point now) {
  const auto free = [&] { return std::ranges::any_of(streams_, [](const auto& c) { return c->has_room(); }); };
  for (auto at = ready_.begin(); at != ready_.end() && free();) {
    consumer* const to = consumer_for(at->second);
    if (to == nullptr) {
      ++at;
      continue;
    }
    entry e = std::move(at->second);
    at = ready_.erase(at);
    hand(*to, std::move(e), now);
  }
  send_filled();
}

void message_queue::expire(time_point now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    give_back(take(out_.find(deadlines_.begin()->second)), now);
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    entry e = std::move(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    if (ordered(e)) {
      const auto key = keys_.find(e.message->message.ordering_key());
      if (--key->second.delayed == 0 && key->second.out == 0) keys_.erase(key);
    }
    const std::uint64_t sequence = e.message->sequence;
    ready_.emplace(sequence, std::move(e));
  }
}

void message_queue::expire_all(time_point now) {
  std::vector<std::uint64_t> all;
  for (const auto& [number, d] : out_)
    all.push_back(number);
  for (const std::uint64_t number : all)
    if (const auto at = out_.find(number); at != out_.end()) give_back(take(at), now);
  run(now);
}

void message_queue::run(time_point now) {
  expire(now);
  if (!ready_.empty() && !streams_.empty()) hand_out(now);
}

std::optional<time_point> message_queue::next_due() const {
  std::optional<time_point> next;
  if (!deadlines_.empty()) next = deadlines_.begin()->first;
  if (!delayed_.empty() && (!next || delayed_.begin()->first < *next)) next = delayed_.begin()->first;
  return next;
}

} // namespace millrace::pubsub::detail
