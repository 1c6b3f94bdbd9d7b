#include "session/settled_log.hpp"

#include "protocol/ack.hpp"

namespace millrace::nats::detail {

void settled_log::record(std::string_view ack_subject) noexcept {
  if (const std::optional<message_identity> m = identify(ack_subject))
    stored_at_[m->stream_sequence % size].store(m->stored_at, std::memory_order_relaxed);
}

bool settled_log::contains(std::string_view ack_subject) const noexcept {
  const std::optional<message_identity> m = identify(ack_subject);
  return m && stored_at_[m->stream_sequence % size].load(std::memory_order_relaxed) == m->stored_at;
}

} // namespace millrace::nats::detail
