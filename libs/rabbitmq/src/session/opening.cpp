#include "session/opening.hpp"

namespace millrace::rabbitmq::detail {
namespace {

std::string quoted(std::string_view what, std::string_view name) {
  return std::string(what) + " '" + std::string(name) + "'";
}

/// Lifecycle R2.1: the queue itself applies the cap, so the pair is whole and the queue is declared here.
result<void> check_redelivery(const queue_spec& queue, const open_options& options, topology mode) {
  if (queue.type != queue_spec::kind::quorum) return {};
  const std::string place = quoted("quorum queue", queue.name) + ": ";
  if (!options.max_attempts && !options.dead_letter) return {};
  if (!options.dead_letter)
    return fail(errc::invalid_options, place + "max_attempts without dead_letter would lose the message");
  if (!options.max_attempts)
    return fail(errc::invalid_options, place + "dead_letter without max_attempts is never reached");
  if (mode != topology::assume) return {};
  return fail(errc::invalid_options,
              place + "max_attempts and dead_letter are arguments of the queue, and this broker declares none: "
                      "set declare_topology(true)");
}

arguments queue_arguments(const queue_spec& queue, const open_options& options) {
  arguments args = queue.args;
  if (queue.delivery_limit) args.set("x-delivery-limit", *queue.delivery_limit);
  if (queue.type == queue_spec::kind::quorum && options.max_attempts && options.dead_letter) {
    args.set("x-delivery-limit", std::int64_t{*options.max_attempts} - 1);
    args.set("x-dead-letter-routing-key", *options.dead_letter);
    if (args.find("x-dead-letter-exchange") == nullptr) args.set("x-dead-letter-exchange", "");
  }
  static constexpr const char* names[] = {"classic", "quorum", "stream"};
  args.set("x-queue-type", names[static_cast<std::size_t>(queue.type)]);
  return args;
}

/// Collects the steps of one subscription.
class planner {
 public:
  planner(const queue_spec& queue, const open_options& options, topology mode)
      : queue_(queue), options_(options), mode_(mode) {}

  void exchange(const exchange_spec& exchange) {
    if (exchange.is_predefined()) return;
    const std::string what = quoted("exchange", exchange.name());
    if (mode_ == topology::verify) {
      append_exchange_declare(add(method::exchange_declare_ok, what, errc::declare).frame, exchange, true);
    }
    append_exchange_declare(add(method::exchange_declare_ok, what, errc::declare).frame, exchange, false);
  }

  void queue(std::string_view name, queue_flags flags, const arguments& args) {
    const std::string what = quoted("queue", name);
    if (mode_ == topology::verify) {
      queue_flags passive = flags;
      passive.passive = true;
      append_queue_declare(add(method::queue_declare_ok, what, errc::declare).frame, name, passive, {});
    }
    append_queue_declare(add(method::queue_declare_ok, what, errc::declare).frame, name, flags, args);
  }

  void bind(const std::string& exchange, const std::string& key, const arguments& args) {
    const std::string what = quoted("binding of queue", queue_.name) + " to " + quoted("exchange", exchange);
    append_queue_bind(add(method::queue_bind_ok, what, errc::declare).frame, queue_.name, exchange, key, args);
  }

  void declare() {
    for (const binding& b : queue_.bindings)
      exchange(b.exchange);
    queue_flags flags;
    flags.durable = queue_.durable;
    flags.exclusive = queue_.exclusive;
    flags.auto_delete = queue_.auto_delete;
    queue(queue_.name, flags, queue_arguments(queue_, options_));
    for (const binding& b : queue_.bindings)
      bind(b.exchange.name(), b.key, b.args);
    if (queue_.delayed) declare_delay(*queue_.delayed);
  }

  void declare_delay(const delay& how) {
    const std::string target = how.target_for(queue_.name);
    if (how.how() == delay::kind::delayed_exchange) {
      exchange(exchange_spec(target, "x-delayed-message").argument("x-delayed-type", "direct"));
      return bind(target, queue_.name, {});
    }
    queue_flags flags;
    flags.durable = true;
    arguments args;
    args.set("x-dead-letter-exchange", "").set("x-dead-letter-routing-key", queue_.name);
    queue(target, flags, args);
  }

  /// Lifecycle R2.5. The error names both sides.
  void look_up(const delay& how) {
    const std::string target = how.target_for(queue_.name);
    const std::string place = quoted("subscription", options_.subscription) + ": its delay needs the ";
    if (how.how() == delay::kind::delayed_exchange) {
      const exchange_spec passive(target, "x-delayed-message");
      append_exchange_declare(
          add(method::exchange_declare_ok, place + quoted("exchange", target), errc::subscribe).frame, passive, true);
      return;
    }
    queue_flags passive;
    passive.passive = true;
    append_queue_declare(add(method::queue_declare_ok, place + quoted("queue", target), errc::subscribe).frame, target,
                         passive, {});
  }

  void qos(std::uint16_t prefetch) {
    append_qos(add(method::basic_qos_ok, "prefetch of " + quoted("queue", queue_.name), errc::subscribe).frame,
               prefetch);
  }

  void consume() {
    consume_flags flags;
    flags.exclusive = queue_.exclusive_consumer;
    opening_step& step = add(method::basic_consume_ok, quoted("queue", queue_.name), errc::subscribe);
    step.verifying = false;
    append_consume(step.frame, queue_.name, flags, queue_.consumer_args);
  }

  [[nodiscard]] std::vector<opening_step> take() && { return std::move(steps_); }

 private:
  opening_step& add(method answer, std::string what, errc kind) {
    opening_step& step = steps_.emplace_back();
    step.answer = answer;
    step.what = std::move(what);
    step.kind = kind;
    step.verifying = mode_ == topology::verify && kind == errc::declare;
    return step;
  }

  const queue_spec& queue_;
  const open_options& options_;
  topology mode_;
  std::vector<opening_step> steps_;
};

} // namespace

result<std::vector<opening_step>> plan_opening(const queue_spec& queue, const open_options& options,
                                               const opening_defaults& defaults) {
  const topology mode = queue.mode.value_or(defaults.mode);
  if (auto checked = queue.check(); !checked) return fail(std::move(checked).error());
  if (auto checked = check_redelivery(queue, options, mode); !checked) return fail(std::move(checked).error());
  const std::optional<std::uint16_t> prefetch = queue.prefetch ? queue.prefetch : defaults.prefetch;
  if (queue.type == queue_spec::kind::stream && !prefetch) {
    return fail(errc::invalid_options, quoted("stream", queue.name) + ": the server wants a prefetch to read a stream");
  }
  planner plan(queue, options, mode);
  if (mode != topology::assume) plan.declare();
  if (prefetch) plan.qos(*prefetch);
  if (queue.delayed && mode == topology::assume) plan.look_up(*queue.delayed);
  plan.consume();
  return std::move(plan).take();
}

void opening_machine::begin(std::uint16_t channel, std::string& out) {
  at_ = 0;
  channel_ = channel;
  send(out);
}

void opening_machine::send(std::string& out) {
  if (done()) return;
  std::string frame = plan_[at_].frame;
  address_frames(frame, channel_);
  out += frame;
}

opening_machine::progress opening_machine::on_answer(method what, std::string& out) {
  if (done() || what != plan_[at_].answer) return progress::unexpected;
  ++at_;
  if (done()) return progress::done;
  send(out);
  return progress::more;
}

error opening_machine::refused(std::uint16_t code, std::string_view text) const {
  if (done())
    return error(errc::consume, plan_.empty() ? std::string() : plan_.back().what).from_server(code, std::string(text));
  const opening_step& step = plan_[at_];
  std::string what = step.what;
  if (step.verifying && code == 404) what += ": expected to exist; create it, or declare with declare_topology(true)";
  if (step.verifying && code == 406)
    what += ": it exists with other settings; change the descriptor, or delete and declare it again";
  return error(step.kind, std::move(what)).from_server(code, std::string(text));
}

} // namespace millrace::rabbitmq::detail
