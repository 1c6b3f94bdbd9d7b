#pragma once

#include <millrace/broker.hpp>

#include <utility>

namespace millrace::testing::conformance {

/// Something that messages can leave through or arrive at.
template <class T, class Source, class Policy>
concept usable = requires(T& on, const Policy& policy) {
  on.pair(policy);
} || requires(T& on, const Source& source, sink& to, const open_options& options) { on.open(source, to, options); };

/// Each step of the lifecycle consumes its object: what is an lvalue is still there, and must not be asked.
template <class Broker>
concept consuming_steps = broker_type<Broker> && connected_type<typename Broker::connected_type> &&
                          !requires(Broker& b, runtime& rt) { b.connect(rt); } &&
                          !requires(typename Broker::connected_type& c) { c.shutdown(); };

/// The typed lifecycle: only a connected broker publishes and subscribes, neither the configuration before it nor the
/// closed broker after it. `static_assert(typed_lifecycle<my::broker, my::queue, my::publish>);`
template <class Broker, class Source, class Policy>
concept typed_lifecycle = consuming_steps<Broker> && source_for<Source, typename Broker::connected_type> &&
                          policy_for<Policy, typename Broker::connected_type> && !usable<Broker, Source, Policy> &&
                          !usable<typename Broker::connected_type::closed_type, Source, Policy>;

} // namespace millrace::testing::conformance
