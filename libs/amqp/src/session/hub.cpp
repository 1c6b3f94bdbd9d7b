#include "session/hub.hpp"

#include "session/sender.hpp"

#include <random>

namespace millrace::amqp::detail {
namespace {

std::string with_random_part(const std::string& name) { return name + "-" + std::to_string(std::random_device{}()); }

} // namespace

hub::hub(runtime& rt, broker_settings s, std::shared_ptr<net::transport> io)
    : clock(rt), settings(std::move(s)), container_id(settings.container_id.value_or(with_random_part("millrace"))),
      link_prefix(settings.container_id ? with_random_part(container_id) : container_id),
      entries(settings.waiting_publishes), io_(std::move(io)) {}

hub::~hub() = default;

void hub::publish(node_kind kind, std::string_view destination, const outbound_message& message, time_point due,
                  publish_operation& op, std::shared_ptr<open_work> transaction) noexcept {
  const auto refused = [&](error why) {
    op.complete_now(fail(std::move(why).at("publish to '" + std::string(destination) + "'")));
  };
  if (destination.empty()) return refused(error(errc::invalid_address, "the address is empty"));
  bool wake_up = false;
  {
    const std::scoped_lock lock(mutex);
    if (closed) return refused(error(errc::closed, "the connection was shut down"));
    out_entry* const e = entries.take();
    if (e == nullptr) return refused(error(errc::publish, "too many publishes wait already"));
    if (auto encoded = append_message(e->bytes, message); !encoded) {
      entries.give_back(*e);
      return refused(std::move(encoded).error());
    }
    e->transaction = std::move(transaction);
    e->operation = &op;
    e->due = due;
    const std::shared_ptr<sender>& to = sender_for(kind, destination);
    e->owner = to.get();
    if (to->put(*e)) ready_senders.push_back(to);
    wake_up = promise_flush();
  }
  if (wake_up) wake();
}

const std::shared_ptr<sender>& hub::sender_for(node_kind kind, std::string_view address) {
  sender_map& of_kind = senders_[static_cast<std::size_t>(kind)];
  const auto found = of_kind.find(address);
  if (found != of_kind.end()) return found->second;
  std::string name(address);
  auto made = std::make_shared<sender>(*this, name, kind);
  return of_kind.emplace(std::move(name), std::move(made)).first->second;
}

bool hub::forget(sender& s) noexcept {
  const std::scoped_lock lock(mutex);
  if (!s.inbox_empty()) return false;
  sender_map& of_kind = senders_[static_cast<std::size_t>(s.kind())];
  const auto found = of_kind.find(s.address());
  if (found != of_kind.end() && found->second.get() == &s) of_kind.erase(found);
  return true;
}

bool hub::post(command work) {
  {
    const std::scoped_lock lock(mutex);
    if (ended_) return false;
    commands_.push_back(std::move(work));
  }
  wake();
  return true;
}

std::vector<hub::command> hub::take_commands() {
  const std::scoped_lock lock(mutex);
  return std::exchange(commands_, {});
}

std::vector<hub::command> hub::end() noexcept {
  const std::scoped_lock lock(mutex);
  ended_ = true;
  closed = true;
  for (sender_map& of_kind : senders_)
    of_kind.clear(); // the connection has them, or nobody needs them
  return std::exchange(commands_, {});
}

} // namespace millrace::amqp::detail
