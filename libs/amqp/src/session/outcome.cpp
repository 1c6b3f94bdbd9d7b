#include "session/outcome.hpp"

#include "protocol/codes.hpp"
#include "session/engine.hpp"

#include <proton/codec.h>
#include <proton/delivery.h>
#include <proton/disposition.h>

namespace millrace::amqp::detail {
namespace {

/// The outcome inside a transactional state: its descriptor, or 0.
std::uint64_t transactional_outcome(pn_data_t* state) {
  pn_data_rewind(state);
  if (!pn_data_next(state) || pn_data_type(state) != PN_LIST) return 0;
  pn_data_enter(state);
  if (!pn_data_next(state) || !pn_data_next(state) || pn_data_type(state) != PN_DESCRIBED) return 0;
  pn_data_enter(state);
  if (!pn_data_next(state)) return 0;
  return pn_data_type(state) == PN_ULONG ? pn_data_get_ulong(state) : 0;
}

std::string words(const char* outcome, pn_disposition_t* remote) {
  const std::string condition = text_of(pn_disposition_condition(remote));
  return condition.empty() ? outcome : std::string(outcome) + ": " + condition;
}

publish_outcome of_type(std::uint64_t type, pn_disposition_t* remote) {
  using kind = publish_outcome::kind;
  switch (type) {
  case 0:
  case PN_RECEIVED:
    return {kind::pending, "settled without an outcome"};
  case PN_ACCEPTED:
    return {kind::accepted, {}};
  case PN_REJECTED:
    return {kind::other, words("rejected", remote)};
  case PN_RELEASED:
    return {kind::other, "released"};
  case PN_MODIFIED:
    return {kind::other, pn_disposition_is_undeliverable(remote) ? "modified: undeliverable here" : "modified"};
  default:
    return {kind::other, "an outcome that is not known"};
  }
}

} // namespace

publish_outcome read_outcome(pn_delivery_t* d) {
  pn_disposition_t* const remote = pn_delivery_remote(d);
  std::uint64_t type = pn_delivery_remote_state(d);
  if (type == transactional_state_code) type = transactional_outcome(pn_disposition_data(remote));
  return of_type(type, remote);
}

void post_under(pn_delivery_t* d, std::string_view transaction) {
  pn_data_t* const state = pn_disposition_data(pn_delivery_local(d));
  pn_data_clear(state);
  pn_data_put_list(state);
  pn_data_enter(state);
  pn_data_put_binary(state, pn_bytes(transaction.size(), transaction.data()));
  pn_data_exit(state);
  pn_delivery_update(d, transactional_state_code);
}

std::string declared_id(pn_delivery_t* d) {
  if (pn_delivery_remote_state(d) != declared_code) return {};
  pn_data_t* const state = pn_disposition_data(pn_delivery_remote(d));
  pn_data_rewind(state);
  if (!pn_data_next(state) || pn_data_type(state) != PN_LIST) return {};
  pn_data_enter(state);
  if (!pn_data_next(state) || pn_data_type(state) != PN_BINARY) return {};
  const pn_bytes_t id = pn_data_get_binary(state);
  return {id.start, id.size};
}

void settle_as(pn_delivery_t* d, verdict how) {
  switch (how) {
  case verdict::accept:
    pn_delivery_update(d, PN_ACCEPTED);
    break;
  case verdict::release:
    pn_delivery_update(d, PN_RELEASED);
    break;
  case verdict::modify:
    pn_disposition_set_failed(pn_delivery_local(d), true);
    pn_disposition_set_undeliverable(pn_delivery_local(d), false);
    pn_delivery_update(d, PN_MODIFIED);
    break;
  case verdict::reject:
    pn_delivery_update(d, PN_REJECTED);
    break;
  }
  pn_delivery_settle(d);
}

} // namespace millrace::amqp::detail
