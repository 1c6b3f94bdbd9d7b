#include "transport/in_process/message_store.hpp"

#include <utility>

namespace millrace::nats::detail::in_process {
namespace {

std::size_t size_of(const message& m) noexcept {
  const wire_message wire{m.subject, {}, as_bytes(m.payload), &m.headers};
  return m.subject.size() + wire_size(wire);
}

} // namespace

std::uint64_t message_store::append(message_ptr m, std::int64_t time) {
  bytes_ += size_of(*m);
  last_of_[m->subject] = ++last_;
  messages_.push_back({std::move(m), time});
  return last_;
}

const stored_message* message_store::find(std::uint64_t sequence) const noexcept {
  if (sequence < first() || sequence > last_) return nullptr;
  return &messages_[sequence - first()];
}

std::uint64_t message_store::last_of(std::string_view subject) const noexcept {
  const auto at = last_of_.find(subject);
  return at == last_of_.end() ? 0 : at->second;
}

message_ptr message_store::drop_oldest() {
  const std::uint64_t sequence = first();
  message_ptr dropped = std::move(messages_.front().content);
  messages_.pop_front();
  bytes_ -= size_of(*dropped);
  const auto at = last_of_.find(dropped->subject);
  if (at != last_of_.end() && at->second == sequence) last_of_.erase(at);
  return dropped;
}

} // namespace millrace::nats::detail::in_process
