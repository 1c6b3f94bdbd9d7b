#include "transport/in_process/queues.hpp"

#include "protocol/codes.hpp"
#include "protocol/value.hpp"

#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace millrace::amqp::detail {

stored_message stored_message::read(std::string bytes) {
  stored_message m;
  value_reader in(bytes);
  const wire_value first = in.next();
  if (in.ok() && first.described && first.descriptor == static_cast<std::uint64_t>(section::header)) {
    value_reader fields(first.body);
    if (first.count > 0) m.durable = fields.next().as_bool().value_or(false);
    if (first.count > 1) m.priority = static_cast<std::uint8_t>(fields.next().as_unsigned().value_or(4));
    bytes.erase(0, bytes.size() - in.left().size());
  }
  m.rest = std::make_shared<const std::string>(std::move(bytes));
  return m;
}

std::string stored_message::write() const {
  std::string fields;
  fields.push_back(static_cast<char>(durable ? constructor::boolean_true : constructor::boolean_false));
  fields.push_back(static_cast<char>(constructor::ubyte));
  fields.push_back(static_cast<char>(priority));
  fields.push_back(static_cast<char>(constructor::null)); // ttl
  fields.push_back(static_cast<char>(failed_deliveries == 0 ? constructor::boolean_true : constructor::boolean_false));
  fields.push_back(static_cast<char>(constructor::uint));
  for (int shift = 24; shift >= 0; shift -= 8)
    fields.push_back(static_cast<char>(failed_deliveries >> shift));
  std::string out{0x00, 0x53, 0x70, static_cast<char>(constructor::list8)};
  out.push_back(static_cast<char>(fields.size() + 1));
  out.push_back(5);
  out += fields;
  return out + *rest;
}

void message_queue::remove(outlet& o) { std::erase(outlets_, &o); }

void message_queue::put_back(stored_message m) {
  const auto later = [&](const stored_message& other) { return other.sequence > m.sequence; };
  messages_.insert(std::ranges::find_if(messages_, later), std::move(m));
}

outlet* message_queue::next_with_credit() {
  for (std::size_t i = 0; i < outlets_.size(); ++i) {
    outlet* const o = outlets_[(turn_ + i) % outlets_.size()];
    if (pn_link_credit(o->link) <= 0) continue;
    turn_ = (turn_ + i + 1) % outlets_.size();
    return o;
  }
  return nullptr;
}

void message_queue::pump() {
  while (!messages_.empty()) {
    outlet* const o = next_with_credit();
    if (o == nullptr) return;
    send(*o, std::move(messages_.front()));
    messages_.pop_front();
  }
}

void message_queue::send(outlet& over, stored_message m) {
  const std::string bytes = m.write();
  char tag[sizeof m.sequence + sizeof m.failed_deliveries];
  std::memcpy(tag, &m.sequence, sizeof m.sequence);
  std::memcpy(tag + sizeof m.sequence, &m.failed_deliveries, sizeof m.failed_deliveries);
  over.unsettled.push_back({&over, std::move(m)});
  pn_delivery_t* const d = pn_delivery(over.link, pn_dtag(tag, sizeof tag));
  pn_delivery_set_context(d, &over.unsettled.back());
  pn_link_send(over.link, bytes.data(), bytes.size());
  pn_link_advance(over.link);
}

bool address_book::route(std::string_view address, const stored_message& m) {
  const auto found = nodes_.find(address);
  if (found == nodes_.end()) return false;
  node& at = found->second;
  stored_message copy = m;
  copy.sequence = ++last_sequence_;
  for (outlet* const o : at.copies) {
    o->own->push(copy);
    o->own->pump();
  }
  if (!at.shared.has_outlets()) return !at.copies.empty();
  at.shared.push(std::move(copy));
  at.shared.pump();
  return true;
}

outlet& address_book::open(pn_link_t* link, const std::string& address, bool topic) {
  outlet& o = outlets_.emplace_back();
  node& at = nodes_[address];
  o.link = link;
  o.from = &at.shared;
  if (topic) {
    o.own = std::make_unique<message_queue>();
    o.from = o.own.get();
    at.copies.push_back(&o);
  }
  o.from->add(o);
  return o;
}

void address_book::close(outlet& o) {
  o.from->remove(o);
  for (outlet::handed& h : o.unsettled)
    o.from->put_back(std::move(h.message));
  if (!o.own) o.from->pump();
  for (auto& [address, at] : nodes_)
    std::erase(at.copies, &o);
  outlets_.remove_if([&](const outlet& other) { return &other == &o; });
}

void address_book::settle(pn_delivery_t* d) {
  auto* const h = static_cast<outlet::handed*>(pn_delivery_get_context(d));
  const std::uint64_t said = pn_delivery_remote_state(d);
  if (h == nullptr || (said == 0 && !pn_delivery_settled(d))) return;
  outlet& over = *h->over;
  const bool again = said == PN_RELEASED || said == PN_MODIFIED || said == 0;
  if (again) {
    if (said == PN_MODIFIED && pn_disposition_is_failed(pn_delivery_remote(d))) ++h->message.failed_deliveries;
    over.from->put_back(std::move(h->message));
  }
  over.unsettled.remove_if([&](const outlet::handed& other) { return &other == h; });
  pn_delivery_set_context(d, nullptr);
  pn_delivery_settle(d);
  if (again) over.from->pump();
}

} // namespace millrace::amqp::detail
