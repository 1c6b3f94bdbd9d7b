#pragma once

#include <millrace/batch_handler.hpp>
#include <millrace/broker.hpp>
#include <millrace/codec/json.hpp>
#include <millrace/handler.hpp>
#include <millrace/registration.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace millrace {

/// Where subscriptions are declared: a broker's scope, or a router. `Codec` is what a registration uses unless it names
/// another one.
template <class Derived, broker_type Broker, class State, class Codec> class mount {
  using connected = typename Broker::connected_type;
  friend Derived;
  mount() = default;

 public:
  /// Handles what `source` delivers with `handler`: a function, lambda or coroutine over `const T&` or `bytes_view`,
  /// and, if it wants them, `context&`, `const State&`, `field<key>`, `const typed_headers<H>&`, `out<Marker>` and
  /// extractors.
  template <class RegistrationCodec = Codec, class Source, class Handler>
    requires source_for<Source, connected> registration& subscribe(Source source, Handler handler) {
    static_assert(!batch_handler<Handler>, "millrace: this handler takes batches: say how large, with "
                                           "`subscribe_batches(source, size, handler)`");
    static_assert(detail::fields_fit<std::decay_t<Handler>, connected>(),
                  "millrace: the handler takes a `field` that this broker's deliveries do not have");
    auto plan = plan_for(std::move(source));
    plan->handler =
        std::make_unique<typed_factory<std::decay_t<Handler>, RegistrationCodec, State>>(std::move(handler));
    return self().add(std::move(plan));
  }
  /// A plain name is the broker's default kind of source.
  template <class RegistrationCodec = Codec, class Handler>
  registration& subscribe(std::string_view name, Handler handler) {
    return subscribe<RegistrationCodec>(typename connected::default_source{std::string(name)}, std::move(handler));
  }

  /// Handles batches of at most `size` messages with a handler over `std::span<const T>` or `std::span<const
  /// bytes_view>`. It answers one outcome for all, or a `std::vector<outcome>`, one an element. An element that does
  /// not decode is settled alone.
  template <class RegistrationCodec = Codec, class Source, batch_handler Handler>
    requires source_for<Source, connected>
  registration& subscribe_batches(Source source, std::size_t size, Handler handler) {
    auto plan = plan_for(std::move(source));
    plan->batch_size = size;
    plan->batch_handler =
        std::make_unique<typed_batch_factory<std::decay_t<Handler>, RegistrationCodec, State>>(std::move(handler));
    return self().add(std::move(plan));
  }
  template <class RegistrationCodec = Codec, batch_handler Handler>
  registration& subscribe_batches(std::string_view name, std::size_t size, Handler handler) {
    return subscribe_batches<RegistrationCodec>(typename connected::default_source{std::string(name)}, size,
                                                std::move(handler));
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  template <class Source> static std::unique_ptr<detail::subscription_plan> plan_for(Source from) {
    auto plan = std::make_unique<detail::subscription_plan>();
    auto source = std::make_shared<Source>(std::move(from));
    plan->batch_wait = default_batch_wait(*source);
    plan->broker_forms_batches = forms_batches<Source>;
    plan->check_source = [source] { return source->check(); };
    plan->open = [source](void* broker, sink& to, const open_options& options) {
      return static_cast<connected*>(broker)->open(*source, to, options);
    };
    if constexpr (takes_declarations<connected, Source>) {
      plan->declare = [source](void* broker, const open_options& options) {
        return static_cast<connected*>(broker)->declare(*source, options);
      };
    }
    if constexpr (requires { source->add_prefix(std::string_view()); }) {
      plan->prefix_source = [source](std::string_view prefix) { source->add_prefix(prefix); };
    }
    plan->read_source = [source](detail::subscription_plan& p) {
      p.address = source->name();
      p.retries = source->retries();
    };
    plan->read_source(*plan);
    plan->name = plan->address;
    return plan;
  }
};

} // namespace millrace
