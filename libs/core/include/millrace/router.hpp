#pragma once

#include <millrace/mount.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millrace {

namespace detail {

/// The registrations of a router, before a scope takes them.
class routed_plans {
 public:
  registration& add(std::unique_ptr<subscription_plan> plan);
  void use(consume_link link) { middleware_.push_back(std::move(link)); }
  /// Moves all into `to`: under `prefix`, and inside this router's middleware.
  void move_into(routed_plans& to, std::string_view prefix);
  [[nodiscard]] std::vector<std::unique_ptr<subscription_plan>> take(std::string_view prefix);

 private:
  std::vector<std::unique_ptr<subscription_plan>> plans_;
  std::vector<std::unique_ptr<registration>> registrations_;
  consume_links middleware_;
};

} // namespace detail

/// Registrations for a kind of broker, written apart from the service and mounted with `scope::include`, once. Its
/// middleware wraps its own registrations, inside the scope's. Its prefix goes in front of every name they use:
/// addresses, retry returns, replies and dead letters.
template <broker_type Broker, class State = void, class Codec = json_codec> class router
    : public mount<router<Broker, State, Codec>, Broker, State, Codec> {
 public:
  explicit router(std::string prefix = {}) : prefix_(std::move(prefix)) {}

  /// Wraps every registration of this router, also those that come later. The first one added is outermost.
  template <class M> router& use(M part) {
    plans_.use(detail::make_link(std::move(part)));
    return *this;
  }
  /// Takes another router's registrations over, under both prefixes; each keeps its own codec and middleware.
  template <class OtherCodec> router& include(router<Broker, State, OtherCodec>&& other) {
    other.plans_.move_into(plans_, other.prefix_);
    return *this;
  }

 private:
  template <class, broker_type, class, class> friend class mount;
  template <broker_type, class, class> friend class router;
  template <broker_type, class, class> friend class scope;
  registration& add(std::unique_ptr<detail::subscription_plan> plan) { return plans_.add(std::move(plan)); }

  std::string prefix_;
  detail::routed_plans plans_;
};

} // namespace millrace
