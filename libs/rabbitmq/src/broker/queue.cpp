#include <millrace/rabbitmq/errors.hpp>
#include <millrace/rabbitmq/queue.hpp>

#include "protocol/wire.hpp"

namespace millrace::rabbitmq {

std::string delay::target_for(const std::string& queue) const {
  if (!name_.empty()) return name_;
  return queue + (kind_ == kind::waiting_queue ? ".retry" : ".delay");
}

namespace {

result<void> check_name(const char* what, const std::string& name) {
  if (name.size() <= detail::most_short) return {};
  return fail(errc::invalid_options, std::string(what) + " '" + name.substr(0, 40) + "…' is longer than 255 bytes");
}

result<void> check_arguments(const arguments& args) {
  for (const auto& [name, value] : args) {
    if (auto checked = check_name("the argument", name); !checked) return checked;
  }
  return {};
}

result<void> check_binding(const detail::queue_spec& queue, const detail::binding& b) {
  if (b.exchange.name().empty()) {
    return fail(errc::invalid_options, "queue '" + queue.name + "': a queue cannot be bound to the default exchange");
  }
  if (auto checked = check_name("the exchange", b.exchange.name()); !checked) return checked;
  if (auto checked = check_name("the exchange type", b.exchange.type()); !checked) return checked;
  if (auto checked = check_name("the binding key", b.key); !checked) return checked;
  if (auto checked = check_arguments(b.exchange.args()); !checked) return checked;
  return check_arguments(b.args);
}

} // namespace

void detail::queue_spec::add_prefix(std::string_view prefix) {
  name.insert(0, prefix);
  for (binding& b : bindings)
    b.exchange.add_prefix(prefix);
  if (delayed) delayed->add_prefix(prefix);
  exchange_spec dead("", "direct");
  if (const argument_value* to = args.find("x-dead-letter-exchange"); to != nullptr) {
    if (const auto* text = std::get_if<std::string>(to)) dead = exchange_spec(*text, "direct");
  }
  if (!dead.is_predefined()) {
    dead.add_prefix(prefix);
    args.set("x-dead-letter-exchange", dead.name());
  }
  const argument_value* const key = args.find("x-dead-letter-routing-key");
  if (key == nullptr || !dead.name().empty()) return; // a key of a named exchange is no name
  if (const auto* text = std::get_if<std::string>(key)) {
    args.set("x-dead-letter-routing-key", std::string(prefix) + *text);
  }
}

result<void> detail::queue_spec::check() const {
  if (name.empty()) return fail(errc::invalid_options, "a queue without a name");
  if (auto checked = check_name("the queue", name); !checked) return checked;
  if (auto checked = check_arguments(args); !checked) return checked;
  if (auto checked = check_arguments(consumer_args); !checked) return checked;
  for (const binding& b : bindings) {
    if (auto checked = check_binding(*this, b); !checked) return checked;
  }
  if (delayed) {
    if (auto checked = check_name("the delay target", delayed->target_for(name)); !checked) return checked;
  }
  if (contradictory_prefetch)
    return fail(errc::invalid_options, "queue '" + name + "': prefetch(0) would mean no limit at all");
  if (type == kind::quorum && args.find("x-max-priority") != nullptr) {
    return fail(errc::invalid_options, "queue '" + name + "': a quorum queue has no priorities");
  }
  if (type == kind::stream && delayed)
    return fail(errc::invalid_options, "queue '" + name + "': a stream has no delayed retry");
  return {};
}

} // namespace millrace::rabbitmq
