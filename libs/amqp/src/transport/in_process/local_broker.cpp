#include "transport/in_process/local_broker.hpp"

#include "protocol/codes.hpp"
#include "protocol/value.hpp"

#include <millrace/log.hpp>

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

namespace millrace::amqp::detail {
namespace {

constexpr int publish_credit = 1000;

bool has_capability(pn_terminus_t* of, std::string_view wanted) {
  pn_data_t* const list = pn_terminus_capabilities(of);
  pn_data_rewind(list);
  if (!pn_data_next(list)) return false;
  if (pn_data_type(list) == PN_ARRAY && pn_data_enter(list)) (void)pn_data_next(list);
  do {
    if (pn_data_type(list) != PN_SYMBOL) continue;
    const pn_bytes_t symbol = pn_data_get_symbol(list);
    if (std::string_view(symbol.start, symbol.size) == wanted) return true;
  } while (pn_data_next(list));
  return false;
}

std::string address_of(pn_terminus_t* terminus) {
  const char* const address = pn_terminus_get_address(terminus);
  return address != nullptr ? address : "";
}

/// The id in a transactional state, or empty.
std::string transaction_of(pn_delivery_t* d) {
  if (pn_delivery_remote_state(d) != transactional_state_code) return {};
  pn_data_t* const state = pn_disposition_data(pn_delivery_remote(d));
  pn_data_rewind(state);
  if (!pn_data_next(state) || !pn_data_enter(state) || !pn_data_next(state)) return {};
  const pn_bytes_t id = pn_data_get_binary(state);
  return {id.start, id.size};
}

/// `declared`, or `transactional-state` with an accepted outcome.
void answer_in_transaction(pn_delivery_t* d, std::string_view id, std::uint64_t code) {
  pn_data_t* const state = pn_disposition_data(pn_delivery_local(d));
  pn_data_clear(state);
  pn_data_put_list(state);
  pn_data_enter(state);
  pn_data_put_binary(state, pn_bytes(id.size(), id.data()));
  if (code == transactional_state_code) {
    pn_data_put_described(state);
    pn_data_enter(state);
    pn_data_put_ulong(state, PN_ACCEPTED);
    pn_data_put_list(state);
    pn_data_exit(state);
  }
  pn_data_exit(state);
  pn_delivery_update(d, code);
  pn_delivery_settle(d);
}

void refuse_link(pn_link_t* link, const char* condition, const char* text) {
  pn_condition_t* const said = pn_link_condition(link);
  pn_condition_set_name(said, condition);
  pn_condition_set_description(said, text);
  pn_terminus_set_type(pn_link_source(link), PN_UNSPECIFIED);
  pn_terminus_set_type(pn_link_target(link), PN_UNSPECIFIED);
  pn_link_open(link);
  pn_link_close(link);
}

bool has_filter(pn_link_t* link) { return pn_data_size(pn_terminus_filter(pn_link_remote_source(link))) > 0; }

} // namespace

local_broker::local_broker() {
  pn_transport_set_server(engine_.transport());
  pn_sasl_allowed_mechs(pn_sasl(engine_.transport()), "ANONYMOUS");
  pn_connection_set_container(engine_.connection(), "in-process");
}

void local_broker::input(std::string_view bytes) {
  (void)engine_.input(bytes, [this] { dispatch(); });
  dispatch();
}

void local_broker::output(std::string& to) {
  engine_.output(to);
  dispatch();
  engine_.output(to);
}

void local_broker::dispatch() {
  while (pn_event_t* const e = engine_.next_event())
    on_event(e);
}

void local_broker::on_event(pn_event_t* e) {
  switch (pn_event_type(e)) {
  case PN_CONNECTION_REMOTE_OPEN:
    return pn_connection_open(engine_.connection());
  case PN_CONNECTION_REMOTE_CLOSE:
    return pn_connection_close(engine_.connection());
  case PN_SESSION_REMOTE_OPEN:
    return pn_session_open(pn_event_session(e));
  case PN_SESSION_REMOTE_CLOSE:
    return close_session(pn_event_session(e));
  case PN_LINK_REMOTE_OPEN:
    return open_link(pn_event_link(e));
  case PN_LINK_REMOTE_CLOSE:
  case PN_LINK_REMOTE_DETACH:
    return close_link(pn_event_link(e));
  case PN_LINK_FLOW:
    if (auto* const o = static_cast<outlet*>(pn_link_get_context(pn_event_link(e)))) o->from->pump();
    return;
  case PN_DELIVERY:
    return on_delivery(pn_event_delivery(e));
  default:
    return;
  }
}

void local_broker::open_link(pn_link_t* link) {
  if (pn_link_is_sender(link)) return open_outlet(link);
  pn_terminus_copy(pn_link_source(link), pn_link_remote_source(link));
  pn_terminus_copy(pn_link_target(link), pn_link_remote_target(link));
  pn_link_open(link);
  pn_link_flow(link, publish_credit);
}

void local_broker::open_outlet(pn_link_t* link) {
  pn_terminus_t* const asked = pn_link_remote_source(link);
  if (has_filter(link)) return refuse_link(link, "amqp:not-implemented", "in process there are no selectors");
  pn_terminus_copy(pn_link_source(link), asked);
  pn_terminus_copy(pn_link_target(link), pn_link_remote_target(link));
  std::string address = address_of(asked);
  if (pn_terminus_is_dynamic(asked)) {
    address = "in-process-reply-" + std::to_string(++last_name_);
    pn_terminus_set_address(pn_link_source(link), address.c_str());
  }
  pn_link_open(link);
  pn_link_set_context(link, &book_.open(link, address, has_capability(asked, "topic")));
}

void local_broker::close_link(pn_link_t* link) {
  auto* const o = static_cast<outlet*>(pn_link_get_context(link));
  pn_link_set_context(link, nullptr);
  if (o != nullptr) book_.close(*o);
  pn_link_close(link);
  pn_link_free(link);
}

/// Its links go with it.
void local_broker::close_session(pn_session_t* session) {
  for (pn_link_t* link = pn_link_head(engine_.connection(), 0); link != nullptr; link = pn_link_next(link, 0)) {
    if (pn_link_session(link) != session) continue;
    auto* const o = static_cast<outlet*>(pn_link_get_context(link));
    pn_link_set_context(link, nullptr);
    if (o != nullptr) book_.close(*o);
  }
  pn_session_close(session);
  pn_session_free(session);
}

void local_broker::on_delivery(pn_delivery_t* d) {
  pn_link_t* const link = pn_delivery_link(d);
  if (pn_link_is_sender(link)) {
    if (pn_delivery_updated(d)) book_.settle(d);
    return;
  }
  if (!pn_delivery_readable(d) || pn_delivery_partial(d) || pn_link_current(link) != d) return;
  std::string bytes(pn_delivery_pending(d), '\0');
  pn_link_recv(link, bytes.data(), bytes.size());
  pn_link_advance(link);
  pn_link_flow(link, 1);
  if (pn_terminus_get_type(pn_link_remote_target(link)) == PN_COORDINATOR) return on_control(d, bytes);
  on_message(link, d, std::move(bytes));
}

void local_broker::on_message(pn_link_t* link, pn_delivery_t* d, std::string bytes) {
  const std::string address = address_of(pn_link_remote_target(link));
  stored_message m = stored_message::read(std::move(bytes));
  const std::string transaction = transaction_of(d);
  if (!transaction.empty()) {
    const auto open = transactions_.find(transaction);
    if (open == transactions_.end()) return refuse(d, "amqp:transaction:unknown-id", "no such transaction");
    open->second.push_back({address, std::move(m)});
    return answer_in_transaction(d, transaction, transactional_state_code);
  }
  if (!book_.route(address, m)) log(log_level::debug, "amqp in process: nobody reads '" + address + "': dropped");
  pn_delivery_update(d, PN_ACCEPTED);
  pn_delivery_settle(d);
}

void local_broker::on_control(pn_delivery_t* d, std::string_view body) {
  value_reader in(body);
  const wire_value what = in.next();
  if (in.ok() && what.descriptor == declare_code) {
    const std::string id = "t" + std::to_string(++last_name_);
    transactions_[id];
    return answer_in_transaction(d, id, declared_code);
  }
  if (!in.ok() || what.descriptor != discharge_code) return refuse(d, "amqp:not-implemented", "declare or discharge");
  value_reader fields(what.body);
  const std::string_view id = fields.next().as_bytes();
  const bool commit = what.count < 2 || !fields.next().as_bool().value_or(false);
  discharge(d, id, commit);
}

void local_broker::discharge(pn_delivery_t* d, std::string_view id, bool commit) {
  const auto open = transactions_.find(id);
  if (open == transactions_.end()) return refuse(d, "amqp:transaction:unknown-id", "no such transaction");
  const std::vector<posted> all = std::move(open->second);
  transactions_.erase(open);
  for (const posted& p : all) {
    if (commit) (void)book_.route(p.address, p.message);
  }
  pn_delivery_update(d, PN_ACCEPTED);
  pn_delivery_settle(d);
}

void local_broker::refuse(pn_delivery_t* d, const char* condition, const char* text) {
  pn_condition_t* const said = pn_disposition_condition(pn_delivery_local(d));
  pn_condition_set_name(said, condition);
  pn_condition_set_description(said, text);
  pn_delivery_update(d, PN_REJECTED);
  pn_delivery_settle(d);
}

} // namespace millrace::amqp::detail
