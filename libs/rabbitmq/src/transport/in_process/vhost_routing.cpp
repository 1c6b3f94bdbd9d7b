#include "transport/in_process/vhost.hpp"

#include "protocol/table.hpp"
#include "transport/in_process/dead_letter.hpp"

#include <algorithm>
#include <chrono>

namespace millrace::rabbitmq::detail::in_process {
namespace {

/// How long a delayed-message exchange keeps it.
duration delay_of(const message& m) noexcept {
  const auto delay = find_field(m.properties.table(), "x-delay");
  if (!delay || delay->what != field_value::kind::integer) return {};
  return std::chrono::milliseconds(std::max<std::int64_t>(delay->integer, 0));
}

std::int64_t unix_seconds(time_point at) noexcept {
  return std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
}

} // namespace

answer<publish_verdict> vhost::publish(const message_ptr& m) {
  publish_verdict verdict;
  std::vector<queue*> to;
  if (m->exchange.empty()) {
    if (const auto waiting = replies_.find(m->routing_key); waiting != replies_.end()) {
      waiting->second->deliver_reply(*m);
      verdict.routed = true;
      return verdict;
    }
    if (const auto found = queues_.find(m->routing_key); found != queues_.end()) to.push_back(found->second.get());
  } else {
    const exchange* const by = find_exchange(m->exchange);
    if (by == nullptr) return refuse(404, "no " + place("exchange", m->exchange, name_));
    const duration wait = by->delays() ? delay_of(*m) : duration::zero();
    if (wait > duration::zero()) {
      delayed_.emplace(now() + wait, m);
      return verdict; // the plugin routes it later: as mandatory it is returned
    }
    route(*by, *m, to);
  }
  verdict.routed = !to.empty();
  for (queue* q : to)
    verdict.accepted = q->enqueue(m) && verdict.accepted;
  return verdict;
}

/// What nobody takes goes to the alternate exchange, if there is one.
void vhost::route(const exchange& by, const message& m, std::vector<queue*>& to) {
  const exchange* at = &by;
  for (int hops = 0; at != nullptr && to.empty() && hops < 16; ++hops) {
    at->route(m, to);
    const auto alternate = find_field(at->declared().arguments, "alternate-exchange");
    at = alternate ? find_exchange(alternate->text) : nullptr;
  }
}

void vhost::dead_letter(const queue& from, const queued& m, std::string_view reason) {
  const queue_settings& settings = from.settings();
  if (!settings.dead_letter_exchange) return;
  const auto letter = std::make_shared<const message>(make_dead_letter(settings, m, reason, unix_seconds(now())));
  std::vector<queue*> to;
  if (letter->exchange.empty()) {
    if (const auto found = queues_.find(letter->routing_key); found != queues_.end()) to.push_back(found->second.get());
  } else if (const exchange* const by = find_exchange(letter->exchange)) {
    route(*by, *letter, to);
  }
  for (queue* q : to) {
    if (reason == "rejected" || !goes_in_circles(*letter, q->settings().name)) (void)q->enqueue(letter);
  }
}

void vhost::touched(queue& q) {
  const queue_ptr alive = q.weak_from_this().lock();
  if (alive && std::ranges::find(touched_, alive) == touched_.end()) touched_.push_back(alive);
}

void vhost::release_delayed() {
  while (!delayed_.empty() && delayed_.begin()->first <= now()) {
    const message_ptr m = std::move(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    const exchange* const by = find_exchange(m->exchange);
    if (by == nullptr) continue;
    std::vector<queue*> to;
    route(*by, *m, to);
    for (queue* q : to)
      (void)q->enqueue(m);
  }
}

void vhost::expire_queues() {
  std::vector<queue_ptr> gone;
  for (const auto& [name, q] : queues_) {
    if (q->unused_for_too_long()) gone.push_back(q);
    const auto due = q->next_due();
    if (due && *due <= now()) touched(*q);
  }
  for (const queue_ptr& q : gone)
    remove(*q);
}

void vhost::run() {
  while (!touched_.empty()) {
    const queue_ptr q = std::move(touched_.front());
    touched_.pop_front();
    q->work();
  }
}

void vhost::on_clock() {
  release_delayed();
  expire_queues();
  run();
}

std::optional<time_point> vhost::next_due() const {
  std::optional<time_point> next;
  if (!delayed_.empty()) next = delayed_.begin()->first;
  for (const auto& [name, q] : queues_) {
    const auto due = q->next_due();
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

} // namespace millrace::rabbitmq::detail::in_process
