#pragma once

#include <millrace/incoming.hpp>
#include <millrace/outgoing.hpp>
#include <millrace/task.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>

namespace millrace {

/// Who performs a retry that the transport cannot delay, a static property of a subscription source (core 2.11).
struct retry_path {
  enum class kind : std::uint8_t {
    addressed,    ///< the service publishes a copy to `address`
    named,        ///< the source reads many destinations: the registration must name one with `retry_to`
    held,         ///< the server holds and delays the message itself; dead letters are copies of the service
    broker_moves, ///< the server redelivers and dead-letters by its own declaration
  };
  kind how = kind::addressed;
  std::string address;
};

/// What a registration declares, handed to the broker when the subscription opens.
struct open_options {
  std::string subscription;                  ///< the registration's name, for errors and logs
  unsigned workers = 1;                      ///< how many messages are handled at once
  std::optional<std::uint32_t> max_attempts; ///< deliveries of one message, the first included
  std::optional<std::string> dead_letter;    ///< where a spent message goes
  std::size_t batch_size = 0;                ///< the largest batch the handler takes; 0: single messages
  duration batch_wait{};                     ///< how long a batch that is not full waits, from its first message
};

/// An open subscription. Destroying it stops it; deliveries that are out stay valid.
class subscription_port {
 public:
  subscription_port() = default;
  subscription_port(const subscription_port&) = delete;
  subscription_port& operator=(const subscription_port&) = delete;
  virtual ~subscription_port() = default;

  /// After it completes, no `sink` call is running and none begins. Bounded.
  virtual task<void> stop() = 0;
  /// False: a message that was handed over and is not handled is lost (core NATS), so a stopping service handles it.
  [[nodiscard]] virtual bool redelivers() const noexcept { return true; }
};

using open_result = result<std::unique_ptr<subscription_port>>;

/// Configuration: built without I/O (lifecycle L1); each step consumes its object.
template <class B>
concept broker_type = std::move_constructible<B> && requires(B b, runtime& rt) {
  typename B::connected_type;
  { std::move(b).connect(rt) } -> std::same_as<task<result<typename B::connected_type>>>;
  { std::as_const(b).describe() } -> std::convertible_to<std::string>;
};

/// The same broker can run in process, through the same connected type.
template <class B>
concept in_process_broker = broker_type<B> && requires(B b, runtime& rt) {
  { std::move(b).connect_in_process(rt) } -> std::same_as<task<result<typename B::connected_type>>>;
};

template <class C>
concept connected_type = std::move_constructible<C> && requires(C c) {
  typename C::closed_type;
  typename C::default_policy;
  { std::move(c).shutdown() } -> std::same_as<task<result<typename C::closed_type>>>;
};

/// A publish policy: pure configuration, paired once with the connected broker.
template <class P, class C>
concept policy_for = requires(C& c, const P& policy) {
  typename P::options;
  { c.pair(policy) } -> std::same_as<result<std::shared_ptr<publish_port>>>;
};

/// A subscription source: what to consume. `check` runs before any I/O; `open` once, at start.
template <class S, class C>
concept source_for =
    std::copy_constructible<S> && requires(C& c, const S& source, sink& to, const open_options& options) {
      { c.open(source, to, options) } -> std::same_as<task<open_result>>;
      { source.name() } -> std::convertible_to<std::string>;
      { source.check() } -> std::same_as<result<void>>;
      { source.retries() } -> std::same_as<retry_path>;
    };

/// A connected broker that hears of every registration of a service before the first one opens, so that two which
/// contradict each other are refused before any call. No I/O; an error ends the start.
template <class C, class S>
concept takes_declarations = requires(C& c, const S& source, const open_options& options) {
  { c.declare(source, options) } -> std::same_as<result<void>>;
};

/// True of a source whose broker forms the batches: for a handler of batches, each `sink::deliver` is one, of at most
/// `open_options::batch_size` messages. Said by a static member `forms_batches`; elsewhere the service forms them.
template <class S> inline constexpr bool forms_batches = [] {
  if constexpr (requires { S::forms_batches; })
    return S::forms_batches;
  else
    return false;
}();

/// How long a partial batch of this source waits by default.
template <class S> [[nodiscard]] duration default_batch_wait(const S& source) {
  if constexpr (requires { source.batch_wait(); })
    return source.batch_wait();
  else
    return std::chrono::milliseconds(10);
}

} // namespace millrace
