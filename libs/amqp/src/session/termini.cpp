#include "session/termini.hpp"

#include <proton/codec.h>
#include <proton/link.h>
#include <proton/terminus.h>

#include <initializer_list>
#include <string_view>

namespace millrace::amqp::detail {
namespace {

pn_bytes_t lent(std::string_view text) { return pn_bytes(text.size(), text.data()); }

void put_symbols(pn_data_t* to, std::initializer_list<std::string_view> symbols) {
  pn_data_put_array(to, false, PN_SYMBOL);
  pn_data_enter(to);
  for (const std::string_view s : symbols)
    pn_data_put_symbol(to, lent(s));
  pn_data_exit(to);
}

void put_capability(pn_terminus_t* to, node_kind kind) {
  if (kind == node_kind::any) return;
  put_symbols(pn_terminus_capabilities(to), {kind == node_kind::queue ? "queue" : "topic"});
}

/// What a sending link takes for an answer. Qpid Broker-J detaches instead of rejecting where it is not told;
/// RabbitMQ's plugin refuses a link that lists `modified`.
void put_outcomes(pn_link_t* link) {
  put_symbols(pn_terminus_outcomes(pn_link_source(link)),
              {"amqp:accepted:list", "amqp:rejected:list", "amqp:released:list"});
}

/// The filter that ActiveMQ, Qpid and Azure know under this name and code.
void put_selector(pn_terminus_t* to, const std::string& condition) {
  constexpr std::uint64_t selector_code = 0x0000468C00000004ULL;
  pn_data_t* const filters = pn_terminus_filter(to);
  pn_data_put_map(filters);
  pn_data_enter(filters);
  pn_data_put_symbol(filters, lent("selector"));
  pn_data_put_described(filters);
  pn_data_enter(filters);
  pn_data_put_ulong(filters, selector_code);
  pn_data_put_string(filters, lent(condition));
  pn_data_exit(filters);
  pn_data_exit(filters);
}

} // namespace

void describe_source(pn_link_t* link, const source_spec& source, const peer_facts& peer) {
  pn_terminus_t* const from = pn_link_source(link);
  pn_terminus_set_address(from, peer.full_address(source.address, source.kind).c_str());
  put_capability(from, source.kind);
  if (!source.selector.empty()) put_selector(from, source.selector);
  if (source.durable_name.empty()) return;
  pn_terminus_set_durability(from, PN_DELIVERIES);
  pn_terminus_set_expiry_policy(from, PN_EXPIRE_NEVER);
}

bool selects(pn_link_t* link, const peer_facts& peer) {
  return peer.tells_filters_apart() && pn_data_size(pn_terminus_filter(pn_link_remote_source(link))) > 0;
}

/// Without the capability RabbitMQ refuses, and others make a queue all the same.
void describe_dynamic_source(pn_link_t* link) {
  pn_terminus_t* const from = pn_link_source(link);
  pn_terminus_set_dynamic(from, true);
  put_symbols(pn_terminus_capabilities(from), {"temporary-queue"});
  pn_terminus_set_expiry_policy(from, PN_EXPIRE_WITH_LINK);
}

std::string dynamic_address(pn_link_t* link) {
  const char* const address = pn_terminus_get_address(pn_link_remote_source(link));
  return address != nullptr ? address : "";
}

void describe_target(pn_link_t* link, const std::string& address, node_kind kind, const peer_facts& peer) {
  pn_terminus_t* const to = pn_link_target(link);
  pn_terminus_set_address(to, peer.full_address(address, kind).c_str());
  put_capability(to, kind);
  put_outcomes(link);
}

void describe_coordinator(pn_link_t* link) {
  pn_terminus_t* const to = pn_link_target(link);
  pn_terminus_set_type(to, PN_COORDINATOR);
  put_symbols(pn_terminus_capabilities(to), {"amqp:local-transactions"});
  put_outcomes(link);
}

} // namespace millrace::amqp::detail
