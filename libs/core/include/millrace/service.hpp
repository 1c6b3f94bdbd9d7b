#pragma once

#include <millrace/broker.hpp>
#include <millrace/codec/json.hpp>
#include <millrace/health.hpp>
#include <millrace/mount.hpp>
#include <millrace/publisher.hpp>
#include <millrace/registration.hpp>
#include <millrace/router.hpp>
#include <millrace/service_core.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace millrace {

/// One broker of a service while it is built: subscriptions, routers and publishers are declared on it. No I/O. A light
/// handle.
template <broker_type Broker, class State = void, class Codec = json_codec> class scope
    : public mount<scope<Broker, State, Codec>, Broker, State, Codec> {
  using connected = typename Broker::connected_type;

 public:
  explicit scope(detail::broker_entry& entry) noexcept : entry_(&entry) {}

  /// The same broker with another codec for the registrations that follow.
  template <class Other> [[nodiscard]] scope<Broker, State, Other> with_codec() const noexcept {
    return scope<Broker, State, Other>(*entry_);
  }

  /// Mounts a router's registrations.
  template <class RouterCodec> scope& include(router<Broker, State, RouterCodec>&& routes) {
    for (auto& plan : routes.plans_.take(routes.prefix_))
      add(std::move(plan));
    return *this;
  }

  /// A publisher of this policy: take it by value into the handlers that publish.
  template <policy_for<connected> Policy = typename connected::default_policy>
  [[nodiscard]] millrace::publisher<Policy> publisher(Policy policy = {}) {
    return millrace::publisher<Policy>(cell(std::move(policy)));
  }

  /// Wraps every handler of this broker, inside the service's middleware. The first one added is outermost.
  template <class M> scope& use(M part) {
    entry_->use(detail::make_link(std::move(part)));
    return *this;
  }
  /// Runs after every subscription of the service is open, before it counts as running. An error aborts the start.
  scope& after_startup(std::function<task<result<void>>()> hook) {
    entry_->after_startup(std::move(hook));
    return *this;
  }

 private:
  template <class, broker_type, class, class> friend class mount;
  registration& add(std::unique_ptr<detail::subscription_plan> plan) {
    if (!plan->copies) plan->copies = cell(typename connected::default_policy{});
    if (!plan->replies) plan->replies = cell(typename connected::default_policy{});
    return entry_->add(std::move(plan));
  }
  template <class Policy> std::shared_ptr<detail::publish_cell> cell(Policy policy) {
    auto made = entry_->add_publisher(
        [policy = std::move(policy)](void* broker) { return static_cast<connected*>(broker)->pair(policy); });
    made->pipeline.make_options = &detail::make_policy_options<Policy>;
    return made;
  }
  detail::broker_entry* entry_;
};

/// A service: one value, built without I/O, run once. `State` is what `on_startup` produces and handlers read as `const
/// State&`.
template <class State = void> class service {
 public:
  explicit service(service_info info) : core_(std::make_shared<service_core>(std::move(info))) {
    if constexpr (!std::is_void_v<State>) core_->require_state();
  }

  /// Builds the state before any broker is dialled. An error aborts the start.
  service& on_startup(std::function<task<result<State>>()> make)
    requires(!std::is_void_v<State>) {
    core_->make_state([make = std::move(make)]() -> task<result<std::shared_ptr<const void>>> { return keep(make()); });
    return *this;
  }
  /// Runs before any broker is dialled, in order. An error aborts the start.
  service& on_startup(std::function<task<result<void>>()> hook)
    requires(std::is_void_v<State>) {
    core_->on_startup(std::move(hook));
    return *this;
  }
  /// Runs when every subscription is open, in order. An error shuts the service down again.
  service& after_startup(std::function<task<result<void>>()> hook) {
    core_->after_startup(std::move(hook));
    return *this;
  }
  /// Runs first at shutdown, brokers still connected. An error is logged and does not stop the shutdown.
  service& on_shutdown(std::function<task<result<void>>()> hook) {
    core_->on_shutdown(std::move(hook));
    return *this;
  }
  /// Runs last, brokers closed.
  service& after_shutdown(std::function<task<result<void>>()> hook) {
    core_->after_shutdown(std::move(hook));
    return *this;
  }

  /// Wraps every handler of the service, batch handlers too (an `interceptor` or a `middleware`: the first one added is
  /// outermost), or every publish (a `publish_layer`: the last one added is outermost).
  template <class M> service& use(M part) {
    if constexpr (std::derived_from<M, publish_layer>)
      core_->use(std::make_shared<M>(std::move(part)));
    else
      core_->use(detail::make_link(std::move(part)));
    return *this;
  }
  /// Threads that run handlers. 0: on the brokers' own I/O threads, for the lowest latency. Default: the machine's
  /// cores.
  service& threads(unsigned n) {
    core_->threads(n);
    return *this;
  }
  /// How long a shutdown waits for running handlers and pending copies. Default 30 s.
  service& shutdown_timeout(duration bound) {
    core_->shutdown_timeout(bound);
    return *this;
  }

  /// Adds a broker and lets `declare(scope&)` mount subscriptions and publishers on it.
  template <broker_type Broker, std::invocable<scope<Broker, State>&> Declare>
  service& with_broker(Broker broker, Declare declare) {
    return with_broker(std::string(), std::move(broker), std::move(declare));
  }
  /// The same under a label, for services with several brokers of one kind.
  template <broker_type Broker, std::invocable<scope<Broker, State>&> Declare>
  service& with_broker(std::string label, Broker broker, Declare declare) {
    auto on = with_broker(std::move(label), std::move(broker));
    declare(on);
    return *this;
  }

  /// Adds a broker and returns its scope, to mount subscriptions and publishers on it.
  template <broker_type Broker> scope<Broker, State> with_broker(Broker broker) {
    return with_broker(std::string(), std::move(broker));
  }
  template <broker_type Broker> scope<Broker, State> with_broker(std::string label, Broker broker) {
    auto entry = std::make_unique<detail::broker_model<Broker>>(std::move(label), std::move(broker));
    scope<Broker, State> on(*entry);
    core_->add(std::move(entry));
    return on;
  }

  /// Runs until SIGINT or SIGTERM: the first drains, a second ends the process at once. Answers an exit code (see
  /// `exit_code`).
  int run() { return core_->run(); }
  /// Runs until `until` ends. Installs no signal handler.
  result<void> run_until(task<void> until) { return core_->run_until(std::move(until)); }
  /// Returns when every subscription is open; the handle stops the service.
  result<running_service> start() { return core_->start(); }
  /// `run` (default), `check`, `--help`: the whole main function.
  int main(int argc, char** argv) { return core_->main(argc, argv); }

  /// For test harnesses: the untyped service.
  [[nodiscard]] const std::shared_ptr<service_core>& core() const noexcept { return core_; }

 private:
  static task<result<std::shared_ptr<const void>>> keep(task<result<State>> made)
    requires(!std::is_void_v<State>) {
    result<State> state = co_await std::move(made);
    if (!state) co_return fail(std::move(state).error());
    co_return std::make_shared<const State>(std::move(*state));
  }
  std::shared_ptr<service_core> core_;
};
service(service_info) -> service<void>;

} // namespace millrace
