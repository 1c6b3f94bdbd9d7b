#include "transport/in_process/channel.hpp"

#include "protocol/content.hpp"

#include <utility>

namespace millrace::rabbitmq::detail::in_process {
namespace {

constexpr std::string_view reply_queue = "amq.rabbitmq.reply-to";
constexpr std::uint64_t max_message_size = 16ULL * 1024 * 1024; ///< what servers take by default, from 4.0

/// The header that a queue adds: how often it came back, or where it stands in its stream.
property_list with_count(const property_list& of, std::string_view name, std::uint64_t n) {
  property_list properties = of;
  std::string table = without_field(of.table(), name);
  writer out(table);
  out.short_string(name);
  out.u8('l');
  out.u64(n);
  properties.set_table(table);
  return properties;
}

} // namespace

void channel::deliver(const consumer_ptr& to, queue& from, queued m) {
  delivered how;
  how.consumer_tag = to->tag;
  how.tag = ++last_tag_;
  how.redelivered = m.redelivered;
  const message& what = *m.what;
  if (from.settings().kind == queue_kind::stream)
    append_deliver(*on_.out, number_, how, what, with_count(what.properties, "x-stream-offset", m.position),
                   on_.frame_max);
  else if (from.settings().kind == queue_kind::quorum && m.returns > 0)
    append_deliver(*on_.out, number_, how, what, with_count(what.properties, "x-delivery-count", m.returns),
                   on_.frame_max);
  else
    append_deliver(*on_.out, number_, how, what, what.properties, on_.frame_max);
  if (!to->no_ack) outstanding_.emplace(how.tag, outstanding{from.shared_from_this(), to, std::move(m)});
}

void channel::deliver_reply(const message& m) {
  delivered how;
  how.consumer_tag = reply_tag_;
  how.tag = ++last_tag_;
  append_deliver(*on_.out, number_, how, m, m.properties, on_.frame_max);
}

answer<void> channel::begin_publish(reader& args) {
  (void)args.u16();
  incoming_ = std::make_shared<message>();
  incoming_->exchange = args.short_string();
  incoming_->routing_key = args.short_string();
  incoming_->mandatory = (args.u8() & 1) != 0;
  has_header_ = false;
  return {};
}

answer<void> channel::on_header(std::string_view payload) {
  if (!incoming_ || has_header_) return refuse(505, "a content header that belongs to no publish");
  reader in(payload);
  const content_header header(in);
  auto properties = property_list::parse(header.properties);
  if (!in.ok() || !properties) return refuse(501, "a malformed content header");
  if (header.body_size > max_message_size)
    return refuse(406, "message size " + std::to_string(header.body_size) + " is larger than configured max size " +
                           std::to_string(max_message_size));
  incoming_->properties = std::move(*properties);
  missing_ = header.body_size;
  has_header_ = true;
  return missing_ == 0 ? finish_publish() : answer<void>();
}

answer<void> channel::on_body(std::string_view payload) {
  if (!incoming_ || !has_header_ || payload.size() > missing_) return refuse(505, "a body that belongs to no publish");
  incoming_->body += payload;
  missing_ -= payload.size();
  return missing_ == 0 ? finish_publish() : answer<void>();
}

answer<void> channel::finish_publish() {
  const std::shared_ptr<message> m = std::exchange(incoming_, nullptr);
  if (auto read = read_properties(*m); !read) return read;
  if (auto addressed = address_replies(*m); !addressed) return addressed;
  if (!transaction_) return perform(m);
  transaction_->published.push_back(m);
  return {};
}

/// Direct reply-to: the server writes the address of this channel into the message.
answer<void> channel::address_replies(message& m) {
  if (m.properties.text(property::reply_to) != reply_queue) return {};
  if (reply_address_.empty()) return refuse(406, "fast reply consumer does not exist");
  m.properties.set_text(property::reply_to, reply_address_);
  return {};
}

answer<void> channel::perform(const message_ptr& m) {
  const auto verdict = on_.host->publish(m);
  if (!verdict) return std::unexpected(verdict.error());
  if (m->mandatory && !verdict->routed) append_return(*on_.out, number_, *m, on_.frame_max);
  if (confirmed_) append_confirm(*on_.out, number_, ++*confirmed_, verdict->accepted);
  return {};
}

answer<void> channel::settle(std::uint64_t tag, bool multiple, ending how) {
  auto first = multiple ? outstanding_.begin() : outstanding_.find(tag);
  if (first == outstanding_.end() || first->first > tag)
    return refuse(406, "unknown delivery tag " + std::to_string(tag));
  while (first != outstanding_.end() && first->first <= tag) {
    const std::uint64_t number = first->first;
    outstanding what = std::move(first->second);
    first = outstanding_.erase(first);
    if (transaction_) {
      transaction_->settlements.push_back({number, std::move(what), how});
    } else if (auto done = settle_now(std::move(what), how); !done) {
      return done;
    }
    if (!multiple) break;
  }
  return {};
}

answer<void> channel::settle_now(outstanding what, ending how) {
  --what.by->held;
  return what.from->settle(std::move(what.what), how);
}

answer<void> channel::select(bool confirms) {
  if (confirms && transaction_) return refuse(406, "cannot switch from tx to confirm mode");
  if (!confirms && confirmed_) return refuse(406, "cannot switch from confirm to tx mode");
  if (confirms && !confirmed_) confirmed_ = 0;
  if (!confirms && !transaction_) transaction_.emplace();
  reply(confirms ? method::confirm_select_ok : method::tx_select_ok);
  return {};
}

answer<void> channel::commit() {
  if (!transaction_) return refuse(406, "channel is not transactional");
  transaction staged = std::exchange(*transaction_, {});
  for (const message_ptr& m : staged.published) {
    if (auto done = perform(m); !done) return done;
  }
  for (settled& s : staged.settlements) {
    if (auto done = settle_now(std::move(s.what), s.how); !done) return done;
  }
  reply(method::tx_commit_ok);
  return {};
}

/// What was settled in it is outstanding again.
answer<void> channel::roll_back() {
  transaction staged = std::exchange(*transaction_, {});
  for (settled& s : staged.settlements)
    outstanding_.emplace(s.tag, std::move(s.what));
  return {};
}

} // namespace millrace::rabbitmq::detail::in_process
