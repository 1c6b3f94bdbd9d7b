#include "wire/scripted_peer.hpp"

#include "protocol/value.hpp"

#include <proton/codec.h>
#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/terminus.h>
#include <proton/transport.h>

namespace millrace::amqp::testing {
namespace {

const char* performative(std::uint8_t code) {
  static const std::map<std::uint8_t, const char*> names{{0x10, "open"},   {0x11, "begin"},    {0x12, "attach"},
                                                         {0x13, "flow"},   {0x14, "transfer"}, {0x15, "disposition"},
                                                         {0x16, "detach"}, {0x17, "end"},      {0x18, "close"}};
  const auto found = names.find(code);
  return found == names.end() ? "?" : found->second;
}

std::string address_of(pn_link_t* link) {
  pn_terminus_t* const about = pn_link_is_sender(link) ? pn_link_remote_source(link) : pn_link_remote_target(link);
  const char* const address = pn_terminus_get_address(about);
  if (pn_terminus_get_type(about) == PN_COORDINATOR) return "(coordinator)";
  return address != nullptr ? address : "(dynamic)";
}

std::string outcome_text(pn_delivery_t* d) {
  pn_disposition_t* const said = pn_delivery_remote(d);
  switch (pn_delivery_remote_state(d)) {
  case PN_ACCEPTED:
    return "accepted";
  case PN_REJECTED:
    return "rejected";
  case PN_RELEASED:
    return "released";
  case PN_MODIFIED:
    return std::string("modified") + (pn_disposition_is_failed(said) ? " failed" : "") +
           (pn_disposition_is_undeliverable(said) ? " undeliverable" : "");
  default:
    return "settled";
  }
}

void set_condition(pn_condition_t* at, const char* condition) {
  pn_condition_set_name(at, condition);
  pn_condition_set_description(at, "as scripted");
}

void put_properties(pn_connection_t* c, const peer_script& script) {
  if (script.product.empty()) return;
  pn_data_t* const map = pn_connection_properties(c);
  pn_data_put_map(map);
  pn_data_enter(map);
  for (const auto& [name, value] :
       {std::pair{"product", &script.product}, std::pair{"version", &script.version},
        std::pair{"queue-prefix", &script.queue_prefix}, std::pair{"topic-prefix", &script.topic_prefix}}) {
    if (value->empty()) continue;
    pn_data_put_symbol(map, pn_bytes(std::string_view(name).size(), name));
    pn_data_put_string(map, pn_bytes(value->size(), value->data()));
  }
  pn_data_exit(map);
}

} // namespace

scripted_peer::scripted_peer(peer_script script, std::vector<std::string>& seen)
    : script_(std::move(script)), seen_(&seen) {
  pn_transport_set_server(engine_.transport());
  pn_sasl_allowed_mechs(pn_sasl(engine_.transport()), script_.mechanisms.c_str());
  if (script_.idle_timeout != 0) pn_transport_set_idle_timeout(engine_.transport(), 2 * script_.idle_timeout);
  pn_transport_set_max_frame(engine_.transport(), 16'384);
  pn_connection_set_container(engine_.connection(), "scripted");
  put_properties(engine_.connection(), script_);
}

void scripted_peer::log_frames(std::string_view bytes) {
  partial_ += bytes;
  std::string_view left = partial_;
  while (left.size() >= 8) {
    const std::size_t size = left.starts_with("AMQP") ? 8 : detail::big_endian(left.substr(0, 4));
    if (left.size() < size) break;
    const auto channel = detail::big_endian(left.substr(6, 2));
    if (!left.starts_with("AMQP") && left[5] == 0) {
      if (size == 8)
        seen_->emplace_back("empty");
      else
        seen_->push_back(std::to_string(channel) + " " + performative(static_cast<std::uint8_t>(left[10])));
    }
    left.remove_prefix(size);
  }
  partial_ = std::string(left);
}

void scripted_peer::input(std::string_view bytes) {
  log_frames(bytes);
  (void)engine_.input(bytes, [this] { dispatch(); });
  dispatch();
}

void scripted_peer::output(std::string& to) {
  engine_.output(to);
  dispatch();
  engine_.output(to);
  to += std::exchange(raw_, {});
}

void scripted_peer::dispatch() {
  while (pn_event_t* const e = engine_.next_event())
    on_event(e);
}

void scripted_peer::accept(pn_link_t* link) {
  pn_terminus_copy(pn_link_source(link), pn_link_remote_source(link));
  pn_terminus_copy(pn_link_target(link), pn_link_remote_target(link));
  if (pn_terminus_is_dynamic(pn_link_remote_source(link))) pn_terminus_set_address(pn_link_source(link), "replies-1");
  if (script_.max_message_size != 0) pn_link_set_max_message_size(link, script_.max_message_size);
  pn_link_open(link);
  if (pn_link_is_receiver(link)) pn_link_flow(link, script_.credit);
}

void scripted_peer::on_event(pn_event_t* e) {
  pn_link_t* const link = pn_event_link(e);
  switch (pn_event_type(e)) {
  case PN_CONNECTION_REMOTE_OPEN:
    return pn_connection_open(engine_.connection());
  case PN_CONNECTION_REMOTE_CLOSE:
    if (script_.on_close) return script_.on_close(engine_.connection());
    return pn_connection_close(engine_.connection());
  case PN_SESSION_REMOTE_OPEN:
    if (script_.on_begin) return script_.on_begin(pn_event_session(e));
    return pn_session_open(pn_event_session(e));
  case PN_SESSION_REMOTE_CLOSE:
    if (script_.on_end) return script_.on_end(pn_event_session(e));
    return pn_session_close(pn_event_session(e));
  case PN_LINK_REMOTE_OPEN:
    links[address_of(link)] = link;
    if (script_.on_attach) return script_.on_attach(link);
    return accept(link);
  case PN_LINK_REMOTE_CLOSE:
  case PN_LINK_REMOTE_DETACH:
    if (script_.on_detach) return script_.on_detach(link);
    return pn_link_close(link);
  case PN_DELIVERY:
    return on_delivery(pn_event_delivery(e));
  default:
    return;
  }
}

void scripted_peer::on_delivery(pn_delivery_t* d) {
  pn_link_t* const link = pn_delivery_link(d);
  if (pn_link_is_sender(link)) {
    if (!pn_delivery_updated(d)) return;
    dispositions.push_back(outcome_text(d));
    return pn_delivery_settle(d);
  }
  if (!pn_delivery_readable(d) || pn_delivery_partial(d)) return;
  std::string bytes(pn_delivery_pending(d), '\0');
  pn_link_recv(link, bytes.data(), bytes.size());
  pn_link_advance(link);
  messages.push_back(std::move(bytes));
  if (script_.on_transfer) return script_.on_transfer(d);
  pn_delivery_update(d, PN_ACCEPTED);
  pn_delivery_settle(d);
}

void scripted_peer::send(const std::string& address, std::string_view bytes) {
  pn_link_t* const link = links.at(address);
  ++tag_;
  pn_delivery(link, pn_dtag(reinterpret_cast<const char*>(&tag_), sizeof tag_));
  pn_link_send(link, bytes.data(), bytes.size());
  pn_link_advance(link);
}

void scripted_peer::detach(const std::string& address, const char* condition, bool closed) {
  pn_link_t* const link = links.at(address);
  if (condition != nullptr) set_condition(pn_link_condition(link), condition);
  if (closed)
    pn_link_close(link);
  else
    pn_link_detach(link);
}

void scripted_peer::end(const std::string& address, const char* condition) {
  pn_session_t* const session = pn_link_session(links.at(address));
  set_condition(pn_session_condition(session), condition);
  pn_session_close(session);
}

void scripted_peer::close(const char* condition) {
  set_condition(pn_connection_condition(engine_.connection()), condition);
  pn_connection_close(engine_.connection());
}

/// An attach without a terminus, then a detach that says why.
void scripted_peer::refuse(pn_link_t* link, const char* condition) {
  pn_terminus_set_type(pn_link_source(link), PN_UNSPECIFIED);
  pn_terminus_set_type(pn_link_target(link), PN_UNSPECIFIED);
  pn_link_open(link);
  set_condition(pn_link_condition(link), condition);
  pn_link_close(link);
}

std::string data_message(std::string_view payload) {
  std::string out{0x00, 0x53, 0x75, static_cast<char>(0xb0)};
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(payload.size() >> shift));
  return out += payload;
}

std::string frame_of(std::uint16_t channel, const std::string& body) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8)
    frame.push_back(static_cast<char>((body.size() + 8) >> shift));
  return frame + std::string{2, 0, static_cast<char>(channel >> 8), static_cast<char>(channel)} + body;
}

std::string detach_frame(std::uint16_t channel, std::uint8_t handle, std::string_view condition) {
  const auto symbol =
      std::string{static_cast<char>(0xa3), static_cast<char>(condition.size())} + std::string(condition);
  const auto list = [](std::uint8_t code, std::uint8_t count, const std::string& items) {
    const auto size = static_cast<char>(items.size() + 1);
    return std::string{0x00, 0x53, static_cast<char>(code), static_cast<char>(0xc0), size, static_cast<char>(count)} +
           items;
  };
  const std::string closed = std::string{0x52, static_cast<char>(handle), 0x41};
  return frame_of(channel, list(0x16, 3, closed + list(0x1d, 1, symbol)));
}

std::string transfer_frame(std::uint16_t channel, std::uint32_t handle, std::uint32_t id, std::string_view message) {
  std::string body{0x00, 0x53, 0x14, static_cast<char>(0xc0), 0, 4};
  for (const std::uint32_t n : {handle, id}) {
    body.push_back(0x70);
    for (int shift = 24; shift >= 0; shift -= 8)
      body.push_back(static_cast<char>(n >> shift));
  }
  body += std::string{static_cast<char>(0xa0), 1, static_cast<char>(id), 0x43}; // tag, message format
  body[4] = static_cast<char>(body.size() - 5);
  return frame_of(channel, body + std::string(message));
}

} // namespace millrace::amqp::testing
