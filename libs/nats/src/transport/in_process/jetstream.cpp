#include "transport/in_process/jetstream.hpp"

#include "protocol/ack.hpp"
#include "protocol/subject.hpp"
#include "transport/in_process/js_api.hpp"
#include "transport/in_process/patterns.hpp"

#include <algorithm>

namespace millrace::nats::detail::in_process {
namespace {

constexpr std::string_view ack_prefix = "$JS.ACK.";

} // namespace

bool jetstream::publish(const message_ptr& m, std::string_view reply) {
  if (!m->subject.starts_with("$JS.")) return store(m, reply);
  if (m->subject.starts_with(js_api::prefix)) return js_api(*this).handle(*m, reply);
  if (m->subject.starts_with(ack_prefix) && acknowledge(*m, reply)) return true;
  return store(m, reply);
}

bool jetstream::acknowledge(const message& m, std::string_view reply) {
  const auto ack = parse_ack_subject(m.subject);
  if (!ack) return false;
  const auto at = streams_.find(ack->stream);
  consumer* c = at == streams_.end() ? nullptr : at->second->find(ack->consumer);
  if (c == nullptr) return false;
  const bool unconfirmed = c->acknowledge(ack->stream_sequence, m.payload, reply);
  if (!reply.empty() && !unconfirmed) host_->send(reply, {make_message(reply, {}), {}});
  return true;
}

bool jetstream::store(const message_ptr& m, std::string_view reply) {
  stream* s = serving(*m);
  if (s == nullptr) return false;
  const std::string answer = s->publish(m);
  if (!reply.empty()) host_->send(reply, {make_message(reply, answer), {}});
  return true;
}

stream* jetstream::serving(const message& m) {
  for (const auto& [name, s] : streams_)
    if (s->serves(m.subject)) return s.get();
  const std::string_view named = exact_header(m, "Nats-Expected-Stream");
  stream* s = named.empty() ? nullptr : find(named);
  if (s == nullptr || !s->open()) return nullptr;
  s->serve(m.subject);
  return s;
}

stream* jetstream::find(std::string_view name) {
  const auto at = streams_.find(name);
  if (at != streams_.end()) return at->second.get();
  if (!is_resource_name(name)) return nullptr;
  return streams_.emplace(name, std::make_unique<stream>(*host_, name)).first->second.get();
}

bool jetstream::served_elsewhere(std::string_view filter, const stream& but) const noexcept {
  if (overlap(filter, "$JS.API.>")) return true;
  return std::ranges::any_of(streams_, [&](const auto& each) {
    const auto& subjects = each.second->subjects();
    return each.second.get() != &but &&
           std::ranges::any_of(subjects, [&](const std::string& s) { return overlap(s, filter); });
  });
}

std::string jetstream::fresh_name() { return "EPHEMERAL" + std::to_string(++names_); }

void jetstream::on_clock() {
  for (const auto& [name, s] : streams_)
    s->on_clock();
}

std::optional<time_point> jetstream::next_due() const noexcept {
  std::optional<time_point> due;
  for (const auto& [name, s] : streams_)
    if (const auto at = s->next_due()) due = due ? std::min(*due, *at) : at;
  return due;
}

} // namespace millrace::nats::detail::in_process
