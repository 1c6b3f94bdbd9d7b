#include "session/termini.hpp"

#include <proton/codec.h>
#include <proton/link.h>
#include <proton/terminus.h>

namespace millrace::amqp::detail {
namespace {

pn_bytes_t lent(std::string_view text) { return pn_bytes(text.size(), text.data()); }

void put_capability(pn_terminus_t* to, node_kind kind) {
  if (kind == node_kind::any) return;
  pn_data_t* const list = pn_terminus_capabilities(to);
  pn_data_put_array(list, false, PN_SYMBOL);
  pn_data_enter(list);
  pn_data_put_symbol(list, lent(kind == node_kind::queue ? "queue" : "topic"));
  pn_data_exit(list);
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

void describe_source(pn_link_t* link, const source_spec& source) {
  pn_terminus_t* const from = pn_link_source(link);
  pn_terminus_set_address(from, source.address.c_str());
  put_capability(from, source.kind);
  if (!source.selector.empty()) put_selector(from, source.selector);
  if (source.durable_name.empty()) return;
  pn_terminus_set_durability(from, PN_DELIVERIES);
  pn_terminus_set_expiry_policy(from, PN_EXPIRE_NEVER);
}

void describe_dynamic_source(pn_link_t* link) {
  pn_terminus_t* const from = pn_link_source(link);
  pn_terminus_set_dynamic(from, true);
  pn_terminus_set_expiry_policy(from, PN_EXPIRE_WITH_LINK);
}

std::string dynamic_address(pn_link_t* link) {
  const char* const address = pn_terminus_get_address(pn_link_remote_source(link));
  return address != nullptr ? address : "";
}

void describe_target(pn_link_t* link, const std::string& address, node_kind kind) {
  pn_terminus_t* const to = pn_link_target(link);
  pn_terminus_set_address(to, address.c_str());
  put_capability(to, kind);
}

void describe_coordinator(pn_link_t* link) {
  pn_terminus_t* const to = pn_link_target(link);
  pn_terminus_set_type(to, PN_COORDINATOR);
  pn_data_t* const capabilities = pn_terminus_capabilities(to);
  pn_data_put_array(capabilities, false, PN_SYMBOL);
  pn_data_enter(capabilities);
  pn_data_put_symbol(capabilities, lent("amqp:local-transactions"));
  pn_data_exit(capabilities);
}

} // namespace millrace::amqp::detail
