#pragma once

#include <millrace/broker.hpp>
#include <millrace/rabbitmq/arguments.hpp>
#include <millrace/runtime.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::rabbitmq {

/// An exchange that a queue is bound to, as it is declared where the broker declares its topology.
class exchange_spec {
 public:
  exchange_spec(std::string name, std::string type) : name_(std::move(name)), type_(std::move(type)) {}
  [[nodiscard]] static exchange_spec direct(std::string name) { return {std::move(name), "direct"}; }
  [[nodiscard]] static exchange_spec topic(std::string name) { return {std::move(name), "topic"}; }
  [[nodiscard]] static exchange_spec fanout(std::string name) { return {std::move(name), "fanout"}; }
  [[nodiscard]] static exchange_spec headers(std::string name) { return {std::move(name), "headers"}; }
  /// Needs the plugin of that name. The binding key is the weight, as a number in text.
  [[nodiscard]] static exchange_spec consistent_hash(std::string name) {
    return {std::move(name), "x-consistent-hash"};
  }
  [[nodiscard]] static exchange_spec custom(std::string name, std::string type) {
    return {std::move(name), std::move(type)};
  }

  /// Default true.
  exchange_spec& durable(bool on) & { return durable_ = on, *this; }
  exchange_spec&& durable(bool on) && { return std::move(durable(on)); }
  /// Default false.
  exchange_spec& auto_delete(bool on = true) & { return auto_delete_ = on, *this; }
  exchange_spec&& auto_delete(bool on = true) && { return std::move(auto_delete(on)); }
  template <class T> exchange_spec& argument(std::string name, T value) & {
    return arguments_.set(std::move(name), std::move(value)), *this;
  }
  template <class T> exchange_spec&& argument(std::string name, T value) && {
    return std::move(argument(std::move(name), std::move(value)));
  }

  /// A router's prefix, in front of the name; `""` and `amq.*` are the server's and stay.
  void add_prefix(std::string_view prefix) {
    if (!is_predefined()) name_.insert(0, prefix);
  }
  [[nodiscard]] bool is_predefined() const noexcept { return name_.empty() || name_.starts_with("amq."); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& type() const noexcept { return type_; }
  [[nodiscard]] bool is_durable() const noexcept { return durable_; }
  [[nodiscard]] bool is_auto_delete() const noexcept { return auto_delete_; }
  [[nodiscard]] const millrace::rabbitmq::arguments& args() const noexcept { return arguments_; }

 private:
  std::string name_;
  std::string type_;
  millrace::rabbitmq::arguments arguments_;
  bool durable_ = true;
  bool auto_delete_ = false;
};

/// How a retry with a delay waits at the server.
class delay {
 public:
  enum class kind : std::uint8_t { waiting_queue, delayed_exchange };
  /// A durable queue `<queue>.retry` whose messages expire back into the origin. Expiry is acted on at its head: mixed
  /// delays wait for the longest in front; use one queue for each length then.
  [[nodiscard]] static delay waiting_queue() { return delay(kind::waiting_queue, {}); }
  [[nodiscard]] static delay waiting_queue(std::string name) { return delay(kind::waiting_queue, std::move(name)); }
  /// An exchange `<queue>.delay` of the delayed-message plugin.
  [[nodiscard]] static delay delayed_exchange() { return delay(kind::delayed_exchange, {}); }
  [[nodiscard]] static delay delayed_exchange(std::string name) {
    return delay(kind::delayed_exchange, std::move(name));
  }

  [[nodiscard]] kind how() const noexcept { return kind_; }
  [[nodiscard]] std::string target_for(const std::string& queue) const;
  /// A router's prefix, in front of a target that was named.
  void add_prefix(std::string_view prefix) {
    if (!name_.empty()) name_.insert(0, prefix);
  }

 private:
  delay(kind how, std::string name) : kind_(how), name_(std::move(name)) {}
  kind kind_;
  std::string name_;
};

/// What a subscription does about the entities it names, before it consumes.
enum class topology : std::uint8_t {
  assume,  ///< nothing: a queue that is missing is found by the consume (lifecycle R2.6)
  declare, ///< declares exchanges, queue, bindings and delay target (lifecycle R2.3)
  verify,  ///< each must exist already and be as described; creates nothing but bindings
};

namespace detail {

struct binding {
  exchange_spec exchange;
  std::string key;
  arguments args;
};

/// What the queue descriptors collect. Internal: written through the setters.
struct queue_spec {
  enum class kind : std::uint8_t { classic, quorum, stream };
  kind type = kind::classic;
  std::string name;
  bool durable = true;
  bool exclusive = false;
  bool auto_delete = false;
  std::vector<binding> bindings;
  arguments args;
  std::optional<std::int64_t> delivery_limit;
  std::optional<std::uint16_t> prefetch;
  std::optional<delay> delayed;
  std::optional<topology> mode;
  arguments consumer_args;
  bool exclusive_consumer = false;
  bool contradictory_prefetch = false;
  duration batch_wait = std::chrono::milliseconds(50);

  [[nodiscard]] result<void> check() const;
  void add_prefix(std::string_view prefix);
};

} // namespace detail

/// The settings that every kind of queue has. Each returns the descriptor; a later call overwrites an earlier one.
template <class Self> class queue_settings {
 public:
  /// Binds the queue to `exchange` (declared, where the broker declares) under `key`. May be repeated.
  Self& bind(exchange_spec exchange, std::string key = {}) & {
    return bind_with(std::move(exchange), std::move(key), {});
  }
  Self&& bind(exchange_spec exchange, std::string key = {}) && {
    return std::move(bind(std::move(exchange), std::move(key)));
  }
  /// The same with arguments of the binding, as headers exchanges match them (`x-match` all or any).
  Self& bind_with(exchange_spec exchange, std::string key, arguments args) & {
    spec_.bindings.push_back({std::move(exchange), std::move(key), std::move(args)});
    return self();
  }
  Self&& bind_with(exchange_spec exchange, std::string key, arguments args) && {
    return std::move(bind_with(std::move(exchange), std::move(key), std::move(args)));
  }
  /// `""` is the default exchange.
  Self& dead_letter_exchange(std::string name) & { return argument("x-dead-letter-exchange", std::move(name)); }
  Self&& dead_letter_exchange(std::string name) && { return std::move(dead_letter_exchange(std::move(name))); }
  Self& dead_letter_routing_key(std::string key) & { return argument("x-dead-letter-routing-key", std::move(key)); }
  Self&& dead_letter_routing_key(std::string key) && { return std::move(dead_letter_routing_key(std::move(key))); }
  /// One argument of the queue as it is.
  template <class T> Self& argument(std::string name, T value) & {
    spec_.args.set(std::move(name), std::move(value));
    return self();
  }
  template <class T> Self&& argument(std::string name, T value) && {
    return std::move(argument(std::move(name), std::move(value)));
  }
  /// Replaces all arguments, dead-letter settings included.
  Self& with_arguments(arguments all) & { return spec_.args = std::move(all), self(); }
  Self&& with_arguments(arguments all) && { return std::move(with_arguments(std::move(all))); }
  /// Messages delivered and not settled, at most; overrides the broker's. 1 to 65,535 (0 would mean no limit and is
  /// refused).
  Self& prefetch(std::uint16_t n) & {
    spec_.prefetch = n;
    spec_.contradictory_prefetch = n == 0;
    return self();
  }
  Self&& prefetch(std::uint16_t n) && { return std::move(prefetch(n)); }
  /// How long a batch that is not full waits for more, from its first element; the registration's own setting wins.
  /// Default 50 ms. A prefetch below the batch size ends every batch that way.
  Self& batch_wait(duration d) & { return spec_.batch_wait = d, self(); }
  Self&& batch_wait(duration d) && { return std::move(batch_wait(d)); }
  [[nodiscard]] duration batch_wait() const noexcept { return spec_.batch_wait; }
  /// Where `retry_after` waits. Without it the service keeps a copy in memory over the delay.
  Self& delay(millrace::rabbitmq::delay how) & { return spec_.delayed = std::move(how), self(); }
  Self&& delay(millrace::rabbitmq::delay how) && { return std::move(delay(std::move(how))); }
  /// Higher is served first while it has room; default 0.
  Self& consumer_priority(int priority) & { return spec_.consumer_args.set("x-priority", priority), self(); }
  Self&& consumer_priority(int priority) && { return std::move(consumer_priority(priority)); }
  /// No other consumer beside this one.
  Self& exclusive_consumer(bool on = true) & { return spec_.exclusive_consumer = on, self(); }
  Self&& exclusive_consumer(bool on = true) && { return std::move(exclusive_consumer(on)); }
  /// Overrides the broker's mode for this queue.
  Self& with_topology(topology mode) & { return spec_.mode = mode, self(); }
  Self&& with_topology(topology mode) && { return std::move(with_topology(mode)); }

  /// A router's prefix: in front of the queue, its exchanges, a delay target that was named, and where dead letters go.
  void add_prefix(std::string_view prefix) { spec_.add_prefix(prefix); }

  [[nodiscard]] const std::string& name() const noexcept { return spec_.name; }
  /// Names over 255 bytes, an empty queue name and contradictions: `errc::invalid_options`.
  [[nodiscard]] result<void> check() const { return spec_.check(); }
  [[nodiscard]] const detail::queue_spec& spec() const noexcept { return spec_; }

 private:
  friend Self;
  queue_settings(detail::queue_spec::kind type, std::string name) {
    spec_.type = type;
    spec_.name = std::move(name);
  }
  detail::queue_spec spec_;
  Self& self() noexcept { return static_cast<Self&>(*this); }
};

/// A classic queue. It keeps no count of deliveries: the service counts through the copies that it publishes.
class queue : public queue_settings<queue> {
 public:
  explicit queue(std::string name) : queue_settings(detail::queue_spec::kind::classic, std::move(name)) {}
  /// Default true.
  queue& durable(bool on) & { return spec_.durable = on, *this; }
  queue&& durable(bool on) && { return std::move(durable(on)); }
  /// Only this connection may use it, and it goes with the connection.
  queue& exclusive(bool on = true) & { return spec_.exclusive = on, *this; }
  queue&& exclusive(bool on = true) && { return std::move(exclusive(on)); }
  /// Goes with its last consumer.
  queue& auto_delete(bool on = true) & { return spec_.auto_delete = on, *this; }
  queue&& auto_delete(bool on = true) && { return std::move(auto_delete(on)); }
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::addressed, spec_.name}; }
};

/// A replicated queue. The server counts deliveries; `max_attempts` and `dead_letter` of the registration become its
/// arguments (lifecycle R2.1).
class quorum_queue : public queue_settings<quorum_queue> {
 public:
  explicit quorum_queue(std::string name) : queue_settings(detail::queue_spec::kind::quorum, std::move(name)) {}
  /// How often a message may come back before it is dead-lettered; `max_attempts` overrides it with one less.
  quorum_queue& delivery_limit(std::uint32_t returns) & { return spec_.delivery_limit = returns, *this; }
  quorum_queue&& delivery_limit(std::uint32_t returns) && { return std::move(delivery_limit(returns)); }
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::broker_moves, {}}; }
};

/// A stream: an append-only log that many consumers read. Needs a prefetch; a retry is a copy at its end. It keeps what
/// is published until it is larger or older than it says; without a limit, for good.
class stream_queue : public queue_settings<stream_queue> {
 public:
  explicit stream_queue(std::string name) : queue_settings(detail::queue_spec::kind::stream, std::move(name)) {}
  /// Where reading starts: "first" that is kept, "last" (the last chunk of messages), "next" (the default: what comes
  /// from now on), or what came in a while, as the server writes it: "90s", "2h", "7D".
  stream_queue& from(std::string where) & {
    return spec_.consumer_args.set("x-stream-offset", std::move(where)), *this;
  }
  stream_queue&& from(std::string where) && { return std::move(from(std::move(where))); }
  stream_queue& from_offset(std::int64_t offset) & { return spec_.consumer_args.set("x-stream-offset", offset), *this; }
  stream_queue&& from_offset(std::int64_t offset) && { return std::move(from_offset(offset)); }
  /// At the chunk of messages that holds this moment.
  stream_queue& from_time(std::chrono::sys_seconds at) & {
    return spec_.consumer_args.set("x-stream-offset", at), *this;
  }
  stream_queue&& from_time(std::chrono::sys_seconds at) && { return std::move(from_time(at)); }
  /// The oldest messages go when there are more bytes.
  stream_queue& max_bytes(std::int64_t bytes) & { return argument("x-max-length-bytes", bytes); }
  stream_queue&& max_bytes(std::int64_t bytes) && { return std::move(max_bytes(bytes)); }
  /// Messages go when they are older, as the server writes it: "12h", "7D".
  stream_queue& max_age(std::string age) & { return argument("x-max-age", std::move(age)); }
  stream_queue&& max_age(std::string age) && { return std::move(max_age(std::move(age))); }
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::addressed, spec_.name}; }
};

} // namespace millrace::rabbitmq
