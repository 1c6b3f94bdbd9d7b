#include "transport/in_process/stream_log.hpp"

#include "protocol/table.hpp"

#include <algorithm>

namespace millrace::rabbitmq::detail::in_process {

bool stream_log::enqueue(const message_ptr& m) {
  log_.push_back(m);
  host().touched(*this);
  return true;
}

answer<void> stream_log::settle(queued /*m*/, ending how) {
  if (how != ending::ack)
    return refuse(540, "basic.nack and basic.reject not supported by stream queues " + settings().described());
  host().touched(*this);
  return {};
}

/// "last" is the last message here; a server begins with the last chunk of messages.
answer<std::uint64_t> stream_log::start_of(const consumer& c) const {
  const auto where = find_field(c.arguments, "x-stream-offset");
  if (!where || where->text == "next") return log_.size();
  if (where->what == field_value::kind::integer && where->tag != 'T')
    return static_cast<std::uint64_t>(std::max<std::int64_t>(where->integer, 0));
  if (where->text == "first") return 0;
  if (where->text == "last") return log_.empty() ? 0 : log_.size() - 1;
  return refuse(540, "x-stream-offset '" + std::string(where->text) + "' is not modelled in process");
}

answer<void> stream_log::add(consumer_ptr c) {
  if (c->no_ack) return refuse(540, "automatic acknowledgement not supported by " + settings().described());
  if (c->prefetch == 0) return refuse(406, "consumer prefetch count is not set for '" + settings().described() + "'");
  const auto start = start_of(*c);
  if (!start) return std::unexpected(start.error());
  c->offset = *start;
  return queue::add(std::move(c));
}

void stream_log::work() {
  const std::vector<consumer_ptr> readers = all();
  for (const consumer_ptr& c : readers) {
    while (c->of == this && c->has_room() && c->offset < log_.size()) {
      queued m;
      m.what = log_[c->offset];
      m.position = c->offset++;
      hand_over(c, std::move(m));
    }
  }
}

} // namespace millrace::rabbitmq::detail::in_process
