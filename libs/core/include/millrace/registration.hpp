#pragma once

#include <millrace/batch_invocation.hpp>
#include <millrace/broker.hpp>
#include <millrace/invocation.hpp>
#include <millrace/middleware.hpp>
#include <millrace/outcome.hpp>
#include <millrace/output.hpp>
#include <millrace/publisher.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace millrace {

namespace detail {

/// Everything a service knows of one subscription before it starts.
struct subscription_plan {
  std::string name;    ///< the registration's name; the source's unless `named`
  std::string address; ///< the source's own name
  std::string broker;
  unsigned workers = 1;
  std::optional<std::uint32_t> max_attempts;
  std::optional<std::string> dead_letter;
  std::optional<std::string> retry_to;
  std::optional<std::string> reply_to;
  bool reply_to_sender = false;
  bool transactional = false;
  bool explain_dead_letters = false;
  failure_policy on_exception = failure_policy::fail_fast();
  failure_policy on_undecodable = failure_policy::drop();
  bool stop_when_ended = false;

  bool keyed = false;
  std::size_t batch_size = 0; ///< 0: one message a call
  bool broker_forms_batches = false;
  duration batch_wait{}; ///< how long a batch that is not full waits, from its first element

  std::unique_ptr<invocation_factory> handler;
  std::unique_ptr<batch_invocation_factory> batch_handler;
  retry_path retries;
  std::function<result<void>()> check_source;
  std::function<void(subscription_plan&)> read_source;        ///< takes name and retry path over from the source
  std::function<void(std::string_view prefix)> prefix_source; ///< empty: this kind of source takes no prefix
  std::string unprefixable;                                   ///< the prefix that could not be put in front
  std::function<result<void>(void* connected, const open_options& options)> declare; ///< empty: nothing to say before
  std::function<task<open_result>(void* connected, sink& to, const open_options& options)> open;
  std::shared_ptr<publish_cell> copies;  ///< retry copies and dead letters leave through this
  std::shared_ptr<publish_cell> replies; ///< replies leave through this

  consume_links middleware; ///< outermost first
  std::vector<bound_output> outputs;
  std::vector<publish_transform> reply_transforms;

  /// Puts a router's prefix in front of every name.
  void add_prefix(std::string_view prefix);
  /// What can be refused before any I/O; the error names the subscription.
  [[nodiscard]] result<void> check() const;
  /// What the broker is told of it.
  [[nodiscard]] open_options declared() const;
};

} // namespace detail

/// The settings of one subscription, chained after `subscribe`. Used while the service is built, on one thread.
class registration {
 public:
  explicit registration(detail::subscription_plan& plan) noexcept : plan_(&plan) {}

  /// The name that errors, logs, health and tests use; by default the source's.
  registration& named(std::string name);
  /// How many messages are handled at once; 1 keeps the order. Default 1.
  registration& workers(unsigned n);
  /// Messages of one partition key are handled in order, by one worker; keys run side by side, messages without a key
  /// take turns. Across a retry the order within a key is not kept.
  registration& by_key();
  /// How long a batch that is not full waits for more, from its first element. Default: the source's (10 ms;
  /// RabbitMQ and Pub/Sub 50 ms, the embedded broker 0).
  registration& batch_wait(duration d);
  /// How often one message is delivered at most, the first included.
  registration& max_attempts(std::uint32_t n);
  /// Where a message goes that used its attempts up: as it arrived, payload and headers.
  registration& dead_letter(std::string destination);
  /// Where retry copies go, instead of the source's own address. A source over many destinations needs it.
  registration& retry_to(std::string destination);
  /// Publishes what the handler returns here, then acknowledges; if the publish fails the message is delivered again.
  registration& reply(std::string destination);
  /// The same, with a transform for the replies; its draft knows the delivery that is answered.
  registration& reply(std::string destination, publish_transform change);
  /// The publisher that replies leave through, with its policy, transforms and broker. Default: the broker's default
  /// policy.
  template <class Policy> registration& reply_through(const publisher<Policy>& to) {
    plan_->replies = to.cell();
    return *this;
  }
  /// The publisher that retry copies and dead letters leave through. Default: the broker's default policy.
  template <class Policy> registration& retry_through(const publisher<Policy>& to) {
    plan_->copies = to.cell();
    return *this;
  }
  /// Publishes what the handler returns to the address that the sender asked for; without one, nothing is published.
  registration& reply_to_sender();
  /// Publishes a batch's replies in one transaction, committed before the batch is acknowledged: all of them or none.
  /// The policy that replies leave through must have transactions of the caller's own, else the start is refused.
  registration& transactional();
  /// Dead letters carry why, how often and where from, in the headers
  /// `x-millrace-dead-letter-{reason,attempts,origin}`.
  registration& explain_dead_letters();
  /// What becomes of a message whose handler threw. Default: `fail_fast`.
  registration& on_exception(failure_policy policy);
  /// What becomes of a payload that does not decode. Default: `drop`.
  registration& on_undecodable(failure_policy policy);
  /// Says where the handler's `out<Marker>` leads, and in which codec: a publisher of this broker, or of another one of
  /// the service.
  template <output_marker Marker, class Codec = json_codec, class Policy>
  registration& bind(const publisher<Policy>& to) {
    using writers = detail::output_writers<typename Marker::messages>;
    plan_->outputs.push_back({out<Marker>::tag(), to.cell(), out<Marker>::name(), writers::template of<Codec>()});
    return *this;
  }
  /// Wraps this handler alone, inside the scope's and the service's middleware. The first one added is outermost.
  template <class M> registration& use(M part) {
    plan_->middleware.push_back(detail::make_link(std::move(part)));
    return *this;
  }
  /// Stops the service, with an error, when the broker says that this subscription is gone for good (deleted,
  /// forbidden). Otherwise the service goes on and its health stays red.
  registration& stop_when_ended();

 private:
  detail::subscription_plan* plan_;
};

} // namespace millrace
