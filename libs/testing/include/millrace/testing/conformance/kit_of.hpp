#pragma once

#include <millrace/testing/conformance/broker_kit.hpp>
#include <millrace/testing/conformance/typed_lifecycle.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace millrace::testing::conformance {

/// What an author says of his broker. Only `name`, `make` and `source` have no default.
template <class Source, class Policy, class Broker> struct kit_options {
  /// Of the tests; a word.
  std::string name;
  run_mode mode = run_mode::in_process;
  capabilities can = {};
  /// A broker that was not connected yet. Called once a connection; what should meet must reach the same server.
  std::function<Broker()> make;
  /// What to consume under a name of letters, digits and underscores. Where the broker settles, the position must
  /// outlive the subscription: a queue, a group, a durable consumer.
  std::function<Source(const std::string&)> source;
  /// How to publish.
  Policy policy = Policy{};
  /// Where to publish for the source of that name. Default: the name.
  std::function<std::string(const std::string&)> destination = {};
  /// Creates the queue or stream behind a name, before it is used. Blocks; called from any thread.
  std::function<result<void>(const std::string&)> prepare = {};
  /// The broker for the server at host:port, where it has a server.
  std::function<Broker(const std::string&)> at = {};
  /// A source under a name that was not prepared and that the server refuses to open.
  std::function<Source(const std::string&)> refused = {};
  /// How long a check waits before it believes that nothing comes: longer than the broker takes to redeliver what was
  /// left unsettled. On the virtual clock it costs nothing.
  duration quiet = std::chrono::seconds(2);
};

namespace detail {

template <class Broker, class Source, class Policy> using shared_options =
    std::shared_ptr<const kit_options<Source, Policy, Broker>>;

template <class Broker, class Source, class Policy> class typed_connection final : public connection {
  using connected = typename Broker::connected_type;

 public:
  typed_connection(runtime& rt, connected broker, shared_options<Broker, Source, Policy> options)
      : runtime_(&rt), broker_(std::move(broker)), options_(std::move(options)) {}

  task<result<std::unique_ptr<receiver>>> open(std::string name) override {
    return open_receiver(*runtime_, *broker_, options_->source(name));
  }
  result<std::shared_ptr<publish_port>> publisher() override { return broker_->pair(options_->policy); }
  task<result<void>> shutdown() override {
    if (!broker_) co_return result<void>{};
    connected last = std::move(*broker_);
    broker_.reset();
    auto closed = co_await std::move(last).shutdown();
    if (!closed) co_return fail(std::move(closed).error());
    co_return result<void>{};
  }

 private:
  runtime* runtime_;
  std::optional<connected> broker_;
  shared_options<Broker, Source, Policy> options_;
};

template <class Broker, class Source, class Policy> class typed_configured final : public configured {
 public:
  typed_configured(Broker broker, shared_options<Broker, Source, Policy> options)
      : broker_(std::move(broker)), options_(std::move(options)) {}

  task<result<std::unique_ptr<connection>>> connect(runtime& rt, run_mode mode) override {
    if (mode == run_mode::live) {
      auto live = co_await std::move(broker_).connect(rt);
      co_return keep(rt, std::move(live));
    }
    if constexpr (in_process_broker<Broker>) {
      auto inside = co_await std::move(broker_).connect_in_process(rt);
      co_return keep(rt, std::move(inside));
    } else {
      co_return fail(errc::unsupported, options_->name + " has no in-process mode");
    }
  }

 private:
  result<std::unique_ptr<connection>> keep(runtime& rt, result<typename Broker::connected_type> connected) {
    if (!connected) return fail(std::move(connected).error());
    return std::make_unique<typed_connection<Broker, Source, Policy>>(rt, std::move(*connected), options_);
  }
  Broker broker_;
  shared_options<Broker, Source, Policy> options_;
};

template <class Policy> class typed_sender final : public sender {
 public:
  explicit typed_sender(publisher<Policy> to) : to_(std::move(to)) {}
  task<result<receipt>> publish(std::string destination, std::string payload, header_map headers) override {
    auto message = to_.text(payload).to(destination).headers(headers);
    auto sent = co_await std::move(message);
    co_return sent;
  }

 private:
  publisher<Policy> to_;
};

template <class Broker, class Source, class Policy> class typed_mounted final : public mounted {
 public:
  typed_mounted(service<>& on, shared_options<Broker, Source, Policy> options)
      : scope_(on.with_broker(options->name, options->make())), options_(std::move(options)) {}

  registration& subscribe(const std::string& name, raw_handler handler) override {
    return scope_.subscribe(options_->source(name), std::move(handler));
  }
  registration& subscribe_to_refused(const std::string& name, raw_handler handler) override {
    return scope_.subscribe(options_->refused(name), std::move(handler));
  }
  std::unique_ptr<sender> publisher() override {
    return std::make_unique<typed_sender<Policy>>(scope_.publisher(options_->policy));
  }

 private:
  scope<Broker, void> scope_;
  shared_options<Broker, Source, Policy> options_;
};

template <class Broker, class Source, class Policy> class typed_kit final : public broker_kit {
 public:
  explicit typed_kit(shared_options<Broker, Source, Policy> options)
      : broker_kit(options->name, options->mode, options->can, options->quiet), options_(std::move(options)) {}

  std::unique_ptr<configured> configure() const override { return wrap(options_->make()); }
  std::unique_ptr<configured> configure_at(const std::string& host_port) const override {
    if (!options_->at) return nullptr;
    return wrap(options_->at(host_port));
  }
  bool has_addresses() const noexcept override { return static_cast<bool>(options_->at); }
  bool has_refused_source() const noexcept override { return static_cast<bool>(options_->refused); }
  std::unique_ptr<mounted> mount(service<>& on) const override {
    return std::make_unique<typed_mounted<Broker, Source, Policy>>(on, options_);
  }
  result<void> prepare(const std::string& name) const override {
    return options_->prepare ? options_->prepare(name) : result<void>{};
  }
  std::string destination(const std::string& name) const override {
    return options_->destination ? options_->destination(name) : name;
  }
  retry_path retries(const std::string& name) const override { return options_->source(name).retries(); }

 private:
  std::unique_ptr<configured> wrap(Broker broker) const {
    return std::make_unique<typed_configured<Broker, Source, Policy>>(std::move(broker), options_);
  }
  shared_options<Broker, Source, Policy> options_;
};

} // namespace detail

/// The kit of a broker: `kit_of<nats::broker>({.name = "nats", .make = ..., .source = ...})`. Source and policy are the
/// broker's default ones unless named: `kit_of<nats::broker, nats::jetstream, nats::jetstream_publish>({...})`. A
/// broker whose lifecycle is not typed does not compile.
template <class Broker, class Source = typename Broker::connected_type::default_source,
          class Policy = typename Broker::connected_type::default_policy>
[[nodiscard]] kit_ptr kit_of(kit_options<Source, Policy, Broker> options) {
  static_assert(typed_lifecycle<Broker, Source, Policy>, "millrace: only a connected broker publishes and subscribes, "
                                                         "and each step of the lifecycle consumes its object");
  return std::make_shared<detail::typed_kit<Broker, Source, Policy>>(
      std::make_shared<const kit_options<Source, Policy, Broker>>(std::move(options)));
}

} // namespace millrace::testing::conformance
