#include "transport/in_process/channel.hpp"

#include "protocol/table.hpp"

#include <utility>

namespace millrace::rabbitmq::detail::in_process {
namespace {

constexpr std::string_view reply_queue = "amq.rabbitmq.reply-to";

bool bit(std::uint8_t flags, int n) noexcept { return (flags >> n & 1) != 0; }

/// A table where the server looks for what it knows: malformed, it ends the connection.
answer<std::string> read_table(reader& args) {
  std::string table(args.table());
  const bool whole = for_each_field(table, [](std::string_view, const field_value&) { return true; });
  if (!args.ok() || !whole) return refuse(501, "a malformed table");
  return table;
}

} // namespace

channel::~channel() {
  for (auto& [tag, c] : consumers_)
    on_.host->cancel(*c);
  if (!reply_address_.empty()) on_.host->no_more_replies(reply_address_);
  if (transaction_) (void)roll_back();
  for (auto& [tag, o] : outstanding_)
    (void)o.from->settle(std::move(o.what), ending::requeue);
  outstanding_.clear();
}

answer<void> channel::on_method(method what, reader& args) {
  if (incoming_) return refuse(505, "expected content header or body, got a method");
  switch (what) {
  case method::exchange_declare:
    return declare_exchange(args);
  case method::queue_declare:
    return declare_queue(args);
  case method::queue_bind:
    return bind_queue(args);
  case method::basic_qos:
    return set_prefetch(args);
  case method::basic_consume:
    return consume(args);
  case method::basic_cancel:
    return cancel(args);
  case method::basic_publish:
    return begin_publish(args);
  case method::basic_ack: {
    const std::uint64_t tag = args.u64();
    return settle(tag, args.u8() != 0, ending::ack);
  }
  case method::basic_reject: {
    const std::uint64_t tag = args.u64();
    return settle(tag, false, args.u8() != 0 ? ending::requeue : ending::reject);
  }
  case method::confirm_select:
    return select(true);
  case method::tx_select:
    return select(false);
  case method::tx_commit:
    return commit();
  case method::tx_rollback:
    if (!transaction_) return refuse(406, "channel is not transactional");
    reply(method::tx_rollback_ok);
    return roll_back();
  default:
    return refuse(540, "method " + std::to_string(static_cast<std::uint32_t>(what)) + " is not modelled in process");
  }
}

answer<void> channel::declare_exchange(reader& args) {
  (void)args.u16();
  exchange::settings declared;
  declared.name = args.short_string();
  declared.type = args.short_string();
  const std::uint8_t flags = args.u8();
  auto table = read_table(args);
  if (!table) return std::unexpected(table.error());
  declared.durable = bit(flags, 1);
  declared.auto_delete = bit(flags, 2);
  declared.arguments = std::move(*table);
  if (auto done = on_.host->declare(std::move(declared), bit(flags, 0)); !done) return done;
  reply(method::exchange_declare_ok);
  return {};
}

answer<void> channel::declare_queue(reader& args) {
  (void)args.u16();
  queue_settings declared;
  declared.name = args.short_string();
  const std::uint8_t flags = args.u8();
  auto table = read_table(args);
  if (!table) return std::unexpected(table.error());
  declared.durable = bit(flags, 1);
  declared.exclusive = bit(flags, 2);
  declared.auto_delete = bit(flags, 3);
  declared.arguments = std::move(*table);
  const auto q = on_.host->declare(std::move(declared), bit(flags, 0), on_.connection);
  if (!q) return std::unexpected(q.error());
  append_declared(*on_.out, number_, (*q)->settings().name, (*q)->ready(), (*q)->consumers());
  return {};
}

answer<void> channel::bind_queue(reader& args) {
  (void)args.u16();
  const std::string queue(args.short_string());
  const std::string exchange(args.short_string());
  std::string key(args.short_string());
  (void)args.u8();
  auto table = read_table(args);
  if (!table) return std::unexpected(table.error());
  auto bound = on_.host->bind(queue, exchange, std::move(key), std::move(*table), on_.connection);
  if (bound) reply(method::queue_bind_ok);
  return bound;
}

answer<void> channel::set_prefetch(reader& args) {
  (void)args.u32();
  prefetch_ = args.u16();
  if (args.u8() != 0) return refuse(540, "a prefetch of the whole channel is not modelled in process");
  reply(method::basic_qos_ok);
  return {};
}

answer<void> channel::consume(reader& args) {
  (void)args.u16();
  const std::string queue(args.short_string());
  const auto c = std::make_shared<consumer>();
  c->tag = args.short_string();
  const std::uint8_t flags = args.u8();
  auto table = read_table(args);
  if (!table) return std::unexpected(table.error());
  if (c->tag.empty()) c->tag = "amq.ctag-" + std::to_string(++last_consumer_);
  if (consumers_.contains(c->tag)) return refuse(530, "attempt to reuse consumer tag '" + c->tag + "'");
  c->owner = this;
  c->no_ack = bit(flags, 1);
  c->exclusive = bit(flags, 2);
  c->prefetch = prefetch_;
  if (const auto priority = find_field(*table, "x-priority")) c->priority = priority->integer;
  c->arguments = std::move(*table);
  if (queue == reply_queue) return consume_replies(*c);
  const auto q = on_.host->find(queue, on_.connection);
  if (!q) return std::unexpected(q.error());
  if (auto added = (*q)->add(c); !added) return added;
  consumers_.emplace(c->tag, c);
  append_consuming(*on_.out, number_, method::basic_consume_ok, c->tag);
  return {};
}

/// Direct reply-to: the channel gets an address, and no queue.
answer<void> channel::consume_replies(const consumer& c) {
  if (!c.no_ack) return refuse(406, "reply consumer cannot acknowledge");
  if (!reply_address_.empty()) return refuse(406, "reply consumer already set");
  reply_address_ = std::string(reply_queue) + "." + std::to_string(on_.connection) + "." + std::to_string(number_);
  reply_tag_ = c.tag;
  on_.host->await_replies(reply_address_, *this);
  append_consuming(*on_.out, number_, method::basic_consume_ok, c.tag);
  return {};
}

answer<void> channel::cancel(reader& args) {
  const std::string tag(args.short_string());
  const bool silent = args.u8() != 0;
  if (const auto found = consumers_.find(tag); found != consumers_.end()) {
    const consumer_ptr c = std::move(found->second);
    consumers_.erase(found);
    on_.host->cancel(*c);
  } else if (tag == reply_tag_ && !reply_address_.empty()) {
    on_.host->no_more_replies(std::exchange(reply_address_, {}));
  }
  if (!silent) append_consuming(*on_.out, number_, method::basic_cancel_ok, tag);
  return {};
}

} // namespace millrace::rabbitmq::detail::in_process
