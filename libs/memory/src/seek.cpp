// Positions in a topic's log, and moving a subscription to one.
#include "hub.hpp"

#include <millrace/memory.hpp>

namespace millrace::memory {

result<void> seek_handle::seek(position to) const { return hub_->seek(*consumer_, to); }

result<void> hub::check_kept(const std::string& topic, position where) const {
  if (retention_.messages() == 0) {
    return fail(errc::invalid_options, "'" + topic + "': a position needs a broker with retain");
  }
  const auto found = topics_.find(topic);
  if (found == topics_.end() || where.value() == 0 || where.value() == position::past_all) return {};
  const topic_state& t = found->second;
  const std::uint64_t oldest = t.retained.empty() ? t.last_sequence + 1 : t.retained.front()->sequence;
  if (where.value() >= oldest) return {};
  return fail(errc::invalid_options, "'" + topic + "': message " + std::to_string(where.value()) +
                                         " is not kept any more, the oldest is " + std::to_string(oldest));
}

void hub::enqueue_from(const topic_state& t, mailbox& box, position where) {
  for (stored_message* m : t.retained) {
    if (m->sequence >= where.value()) enqueue(*m, box);
  }
}

result<void> hub::seek(consumer& c, position to) {
  lock held(mutex_);
  mailbox& box = *c.box;
  if (closed()) return fail(errc::closed, "seek in '" + box.topic + "'");
  if (!box.group.empty())
    return fail(errc::invalid_options, "seek in '" + box.topic + "': a group has no position of its own");
  if (auto kept = check_kept(box.topic, to); !kept) return kept;
  incoming_batch waiting = std::move(box.ready);
  while (incoming* n = waiting.pop())
    recycle(*static_cast<node*>(n));
  for (const auto& n : nodes_) {
    if (n->out && n->taker == &c) n->set_discarded(true);
  }
  enqueue_from(topic_named(box.topic), box, to);
  pump(box, held);
  return {};
}

} // namespace millrace::memory
