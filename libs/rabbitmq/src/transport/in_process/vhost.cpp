#include "transport/in_process/vhost.hpp"

#include "protocol/table.hpp"

#include <algorithm>

namespace millrace::rabbitmq::detail::in_process {
namespace {

constexpr std::string_view reserved = "amq.";

answer<void> check_name(const char* kind, const std::string& name) {
  if (!name.starts_with(reserved)) return {};
  return refuse(403, std::string(kind) + " name '" + name + "' contains reserved prefix 'amq.*'");
}

std::unexpected<refusal> locked(const queue_settings& q) {
  return refuse(405, "cannot obtain exclusive access to locked " + q.described() +
                         ". It could be originally declared on another connection or the exclusive property value does "
                         "not match that of the original declaration.");
}

} // namespace

vhost::vhost(runtime& rt, std::string name) : runtime_(&rt), name_(std::move(name)) {
  for (const char* type : {"direct", "fanout", "topic", "headers"})
    exchanges_.emplace("amq." + std::string(type), exchange({"amq." + std::string(type), type, true, false, {}}));
  exchanges_.emplace("amq.match", exchange({"amq.match", "headers", true, false, {}}));
}

exchange* vhost::find_exchange(std::string_view name) noexcept {
  const auto found = exchanges_.find(name);
  return found == exchanges_.end() ? nullptr : &found->second;
}

answer<void> vhost::check_new(const exchange::settings& declared) const {
  if (auto allowed = check_name("exchange", declared.name); !allowed) return allowed;
  if (declared.type != "x-delayed-message") return {};
  const auto inside = find_field(declared.arguments, "x-delayed-type");
  if (inside && is_exchange_type(inside->text)) return {};
  return refuse(406, "Invalid argument, 'x-delayed-type' must be an existing exchange type");
}

answer<void> vhost::declare(exchange::settings declared, bool passive) {
  if (declared.name.empty()) return refuse(403, "operation not permitted on the default exchange");
  const exchange* const there = find_exchange(declared.name);
  const std::string what = place("exchange", declared.name, name_);
  if (passive) {
    if (there == nullptr) return refuse(404, "no " + what);
    return {};
  }
  if (!is_exchange_type(declared.type)) return refuse(503, "unknown exchange type '" + declared.type + "'");
  if (there == nullptr) {
    if (auto allowed = check_new(declared); !allowed) return allowed;
    std::string name = declared.name;
    exchanges_.emplace(std::move(name), exchange(std::move(declared)));
    return {};
  }
  const exchange::settings& has = there->declared();
  if (auto same = check_same("type", has.type, declared.type, what); !same) return same;
  if (auto same = check_same("durable", has.durable, declared.durable, what); !same) return same;
  if (auto same = check_same("auto_delete", has.auto_delete, declared.auto_delete, what); !same) return same;
  return check_same_argument(has.arguments, declared.arguments, "alternate-exchange", what);
}

answer<queue_ptr> vhost::find(const std::string& queue, std::uint64_t connection) const {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return refuse(404, "no " + place("queue", queue, name_));
  const queue_ptr& q = found->second;
  if (q->owner() != 0 && q->owner() != connection) return locked(q->settings());
  return q;
}

answer<queue_ptr> vhost::declare(queue_settings declared, bool passive, std::uint64_t connection) {
  declared.vhost = name_;
  if (passive) return find(declared.name, connection);
  if (const auto found = queues_.find(declared.name); found != queues_.end()) {
    queue_ptr q = found->second;
    if (q->owner() != (declared.exclusive ? connection : 0)) return locked(q->settings());
    if (auto same = check_equivalent(q->settings(), declared); !same) return std::unexpected(same.error());
    q->used();
    return q;
  }
  if (auto allowed = check_name("queue", declared.name); !allowed) return std::unexpected(allowed.error());
  if (auto read = read_arguments(declared); !read) return std::unexpected(read.error());
  if (declared.name.empty()) declared.name = "amq.gen-" + std::to_string(++generated_);
  const std::uint64_t owner = declared.exclusive ? connection : 0;
  queue_ptr made = make_queue(*this, std::move(declared), owner);
  queues_.emplace(made->settings().name, made);
  return made;
}

answer<void> vhost::bind(const std::string& queue, const std::string& exchange, std::string key, std::string arguments,
                         std::uint64_t connection) {
  if (exchange.empty()) return refuse(403, "operation not permitted on the default exchange");
  const auto to = find(queue, connection);
  if (!to) return std::unexpected(to.error());
  auto* const from = find_exchange(exchange);
  if (from == nullptr) return refuse(404, "no " + place("exchange", exchange, name_));
  return from->bind(**to, std::move(key), std::move(arguments));
}

void vhost::cancel(consumer& c) {
  queue* const q = std::exchange(c.of, nullptr);
  if (q != nullptr && !q->remove(c)) remove(*q);
}

void vhost::remove(queue& q) {
  const auto found = queues_.find(q.settings().name);
  if (found == queues_.end() || found->second.get() != &q) return;
  const queue_ptr alive = std::move(found->second);
  queues_.erase(found);
  alive->deleted();
  std::erase(touched_, alive);
  for (auto at = exchanges_.begin(); at != exchanges_.end();) {
    const bool stays = at->second.unbind_all(q) || !at->second.declared().auto_delete;
    at = stays ? std::next(at) : exchanges_.erase(at);
  }
}

void vhost::connection_ended(std::uint64_t connection) {
  std::vector<queue_ptr> gone;
  for (const auto& [name, q] : queues_) {
    if (q->owner() == connection) gone.push_back(q);
  }
  for (const queue_ptr& q : gone)
    remove(*q);
}

} // namespace millrace::rabbitmq::detail::in_process
