#pragma once

#include <millrace/testing/conformance/broker_kit.hpp>
#include <millrace/testing/conformance/typed_lifecycle.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace millrace::testing::conformance {

/// Reads the position of a message, in a handler and without a service: `[](const auto& m) { return
/// *m.field(my::sequence); }`.
class position_reader {
 public:
  position_reader() noexcept = default;
  template <class F>
    requires std::invocable<F&, const delivery&> && std::invocable<F&, const context&>
  position_reader(F read) : of_delivery_(read), of_context_(std::move(read)) {}
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(of_delivery_); }
  [[nodiscard]] std::uint64_t operator()(const delivery& d) const { return of_delivery_(d); }
  [[nodiscard]] std::uint64_t operator()(const context& c) const { return of_context_(c); }

 private:
  std::function<std::uint64_t(const delivery&)> of_delivery_;
  std::function<std::uint64_t(const context&)> of_context_;
};

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
  /// Gives a message a partition key, by a header or an option. Messages of one key must arrive in order.
  std::function<void(std::string_view key, header_map& headers, typename Policy::options& options)> key = {};
  /// The position of a message in its log. Needed by the two below.
  position_reader position = {};
  /// A source that begins at the message of this position, each time it opens; it keeps no position of its own.
  std::function<Source(const std::string& name, std::uint64_t position)> start_at = {};
  /// Moves the subscription of a message that is being handled, so that it goes on with the message of this position;
  /// without one: with what is published from now on.
  std::function<result<void>(context& ctx, std::optional<std::uint64_t> to)> seek = {};
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
  task<result<std::unique_ptr<receiver>>> open_at(std::string name, std::uint64_t position) override {
    return open_receiver(*runtime_, *broker_, options_->start_at(name, position));
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

/// Options of a message, as the kit's `key` made them.
template <class Options> struct made_options {
  Options value;
  friend void apply(Options& to, const made_options& made) { to = made.value; }
};

template <class Broker, class Source, class Policy> class typed_sender final : public sender {
 public:
  typed_sender(publisher<Policy> to, shared_options<Broker, Source, Policy> options)
      : to_(std::move(to)), options_(std::move(options)) {}
  task<result<receipt>> publish(std::string destination, std::string payload, header_map headers) override {
    auto message = to_.text(payload).to(destination).headers(headers);
    auto sent = co_await std::move(message);
    co_return sent;
  }
  task<result<receipt>> publish_keyed(std::string destination, std::string payload, std::string key) override {
    header_map headers;
    made_options<typename Policy::options> made;
    options_->key(key, headers, made.value);
    auto message = to_.text(payload).to(destination).headers(headers).with(made);
    auto sent = co_await std::move(message);
    co_return sent;
  }

 private:
  publisher<Policy> to_;
  shared_options<Broker, Source, Policy> options_;
};

template <class Broker, class Source, class Policy> class typed_mounted final : public mounted {
 public:
  typed_mounted(service<>& on, shared_options<Broker, Source, Policy> options)
      : scope_(on.with_broker(options->name, options->make())), options_(std::move(options)) {}

  registration& subscribe(const std::string& name, raw_handler handler) override {
    return scope_.subscribe(options_->source(name), std::move(handler));
  }
  registration& subscribe_waiting(const std::string& name, waiting_handler handler) override {
    return scope_.subscribe(options_->source(name), std::move(handler));
  }
  registration& subscribe_batches(const std::string& name, std::size_t size, batch_of_raw_handler handler) override {
    return scope_.subscribe_batches(options_->source(name), size, std::move(handler));
  }
  registration& subscribe_to_refused(const std::string& name, raw_handler handler) override {
    return scope_.subscribe(options_->refused(name), std::move(handler));
  }
  std::unique_ptr<sender> publisher() override {
    return std::make_unique<typed_sender<Broker, Source, Policy>>(scope_.publisher(options_->policy), options_);
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
  bool has_keys() const noexcept override { return static_cast<bool>(options_->key); }
  bool has_start_positions() const noexcept override { return options_->position && options_->start_at; }
  bool has_seek() const noexcept override { return options_->position && options_->seek; }
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
  std::uint64_t position_of(const delivery& d) const override { return options_->position(d); }
  std::uint64_t position_of(context& ctx) const override { return options_->position(ctx); }
  result<void> seek(context& ctx, std::optional<std::uint64_t> to) const override { return options_->seek(ctx, to); }

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
