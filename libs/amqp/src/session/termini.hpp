#pragma once

#include "session/peer.hpp"

#include <millrace/amqp/address.hpp>

#include <string>

struct pn_link_t;

namespace millrace::amqp::detail {

/// What a receiving link asks for: address, capability, selector, durability.
void describe_source(pn_link_t* link, const source_spec& source, const peer_facts& peer);
/// Whether the peer filters as the source asked: it answers with the filters that are in place.
[[nodiscard]] bool selects(pn_link_t* link, const peer_facts& peer);
/// A node of the peer's making, for replies.
void describe_dynamic_source(pn_link_t* link);
[[nodiscard]] std::string dynamic_address(pn_link_t* link);

void describe_target(pn_link_t* link, const std::string& address, node_kind kind, const peer_facts& peer);
void describe_coordinator(pn_link_t* link);

} // namespace millrace::amqp::detail
