#include "session/publisher_port.hpp"

#include <millrace/pubsub/fields.hpp>

#include <algorithm>

namespace millrace::pubsub::detail {
namespace {

constexpr std::size_t most_known = 64;

} // namespace

/// The most specific first: the message's option, its header, the policy's.
std::string_view publisher_port::key_of(const outgoing& m) const {
  if (m.options != nullptr) {
    const auto& chosen = *static_cast<const pubsub::publish::options*>(m.options);
    if (chosen.ordering_key()) return *chosen.ordering_key();
  }
  if (m.headers != nullptr)
    if (const auto header = m.headers->get(partition_key_header)) return *header;
  return key_;
}

result<topic_publisher*> publisher_port::topic(std::string_view written) {
  const known_topic* const last = last_.load(std::memory_order_acquire);
  if (last != nullptr && last->written == written) [[likely]]
    return last->publisher;
  auto found = shared_->topic(written);
  if (!found) return found;
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find_if(known_, [&](const auto& k) { return k->written == written; });
  if (known != known_.end()) {
    last_.store(known->get(), std::memory_order_release);
  } else if (known_.size() < most_known) {
    known_.push_back(std::make_unique<known_topic>(std::string(written), *found));
    last_.store(known_.back().get(), std::memory_order_release);
  }
  return found;
}

void publisher_port::publish(const outgoing& m, publish_operation& op) noexcept {
  if (shared_->closed()) [[unlikely]]
    return op.complete_now(fail(errc::not_connected, "topic '" + std::string(m.destination) + "'"));
  auto to = topic(m.destination);
  if (!to) [[unlikely]]
    return op.complete_now(fail(std::move(to.error())));
  const outgoing_message message{m.payload, m.headers, key_of(m)};
  if (std::string fault = fault_of(message); !fault.empty()) [[unlikely]]
    return op.complete_now(fail(errc::publish, "topic '" + (*to)->name() + "': " + fault));
  (*to)->publish(message, op);
}

} // namespace millrace::pubsub::detail
