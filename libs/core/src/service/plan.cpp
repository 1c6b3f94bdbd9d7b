#include <millrace/registration.hpp>
#include <millrace/router.hpp>
#include <millrace/service_core.hpp>

#include <algorithm>
#include <utility>

namespace millrace {

registration& registration::named(std::string name) {
  plan_->name = std::move(name);
  return *this;
}
registration& registration::workers(unsigned n) {
  plan_->workers = n;
  return *this;
}
registration& registration::by_key() {
  plan_->keyed = true;
  return *this;
}
registration& registration::batch_wait(duration d) {
  plan_->batch_wait = d;
  return *this;
}
registration& registration::max_attempts(std::uint32_t n) {
  plan_->max_attempts = n;
  return *this;
}
registration& registration::dead_letter(std::string destination) {
  plan_->dead_letter = std::move(destination);
  return *this;
}
registration& registration::retry_to(std::string destination) {
  plan_->retry_to = std::move(destination);
  return *this;
}
registration& registration::reply(std::string destination) {
  plan_->reply_to = std::move(destination);
  return *this;
}
registration& registration::reply(std::string destination, publish_transform change) {
  plan_->reply_transforms.push_back(std::move(change));
  return reply(std::move(destination));
}
registration& registration::transactional() {
  plan_->transactional = true;
  return *this;
}
registration& registration::explain_dead_letters() {
  plan_->explain_dead_letters = true;
  return *this;
}
registration& registration::reply_to_sender() {
  plan_->reply_to_sender = true;
  return *this;
}
registration& registration::on_exception(failure_policy policy) {
  plan_->on_exception = policy;
  return *this;
}
registration& registration::on_undecodable(failure_policy policy) {
  plan_->on_undecodable = policy;
  return *this;
}
registration& registration::stop_when_ended() {
  plan_->stop_when_ended = true;
  return *this;
}

void detail::subscription_plan::add_prefix(std::string_view prefix) {
  if (prefix.empty()) return;
  if (!prefix_source) {
    unprefixable = prefix;
    return;
  }
  const bool named = name != address;
  prefix_source(prefix);
  read_source(*this);
  if (!named) name = address;
  for (auto* target : {&dead_letter, &retry_to, &reply_to}) {
    if (*target) target->value().insert(0, prefix);
  }
}

registration& detail::routed_plans::add(std::unique_ptr<subscription_plan> plan) {
  registrations_.push_back(std::make_unique<registration>(*plan));
  plans_.push_back(std::move(plan));
  return *registrations_.back();
}

std::vector<std::unique_ptr<detail::subscription_plan>> detail::routed_plans::take(std::string_view prefix) {
  for (auto& plan : plans_) {
    plan->add_prefix(prefix);
    plan->middleware.insert(plan->middleware.begin(), middleware_.begin(), middleware_.end());
  }
  return std::exchange(plans_, {});
}

void detail::routed_plans::move_into(routed_plans& to, std::string_view prefix) {
  for (auto& plan : take(prefix))
    to.plans_.push_back(std::move(plan));
  for (auto& handle : registrations_)
    to.registrations_.push_back(std::move(handle));
  registrations_.clear();
}

open_options detail::subscription_plan::declared() const {
  open_options options;
  options.subscription = name;
  options.workers = workers;
  options.max_attempts = max_attempts;
  options.dead_letter = dead_letter;
  options.batch_size = batch_size;
  options.batch_wait = batch_wait;
  return options;
}

result<void> detail::subscription_plan::check() const {
  const auto refuse = [this](std::string why) -> result<void> {
    return fail(errc::invalid_options, "subscription '" + name + "': " + why);
  };
  if (auto source = check_source(); !source) return fail(std::move(source).error().at("subscription '" + name + "'"));
  if (!unprefixable.empty()) return refuse("its source takes no prefix, but its router has '" + unprefixable + "'");
  if (name.empty()) return refuse("the name is empty");
  if (workers == 0) return refuse("workers(0): at least one worker handles messages");
  if (max_attempts == 0U) return refuse("max_attempts(0): the first delivery counts, 1 is the least");
  if (dead_letter && !max_attempts) return refuse("dead_letter needs max_attempts: it takes what used its attempts up");
  if (dead_letter && dead_letter->empty()) return refuse("dead_letter has an empty destination");
  if (retry_to && retry_to->empty()) return refuse("retry_to has an empty destination");
  if (retry_to && retries.how == retry_path::kind::broker_moves)
    return refuse("retry_to: the broker itself redelivers here");
  if (retries.how == retry_path::kind::named && !retry_to) {
    return refuse("it reads many destinations, so retry copies have no address: name one with retry_to(\"...\")");
  }
  std::vector<output_need> needs;
  if (batch_handler)
    batch_handler->outputs(needs);
  else
    handler->outputs(needs);
  for (const auto& need : needs) {
    const auto bound = std::ranges::count(outputs, need.tag, &bound_output::tag);
    if (bound == 0) return refuse("output '" + std::string(need.name) + "' is not bound: use bind<...>(publisher)");
    if (bound > 1) return refuse("output '" + std::string(need.name) + "' is bound twice");
  }
  const reply_form replies_as = batch_handler ? batch_handler->replies() : handler->replies();
  const bool wired = reply_to || reply_to_sender;
  if (replies_as.any && !wired && replies_as.destination.empty()) {
    return refuse("the handler returns a value: say where it goes with reply(\"...\") or reply_to_sender()");
  }
  if (!replies_as.any && wired) return refuse("a reply is declared, but the handler returns none");
  if (reply_to && reply_to->empty()) return refuse("reply has an empty destination");
  if (explain_dead_letters && !dead_letter) return refuse("explain_dead_letters needs a dead_letter");
  if (!batch_handler) {
    if (transactional) return refuse("transactional() is for the replies of a batch");
    return {};
  }
  if (batch_size == 0) return refuse("a batch holds one message at least");
  if (keyed) return refuse("by_key() orders single messages; a batch has many keys");
  if (reply_to_sender) return refuse("a batch has many senders: reply_to_sender() is for single messages");
  if (transactional && !replies_as.any) return refuse("transactional() needs a handler that returns replies");
  return {};
}

registration& detail::broker_entry::add(std::unique_ptr<subscription_plan> plan) {
  plan->broker = name();
  registrations_.push_back(std::make_unique<registration>(*plan));
  plans_.push_back(std::move(plan));
  return *registrations_.back();
}

std::shared_ptr<detail::publish_cell>
detail::broker_entry::add_publisher(std::function<result<std::shared_ptr<publish_port>>(void*)> pair) {
  pairings_.push_back({std::make_shared<publish_cell>(), std::move(pair)});
  return pairings_.back().cell;
}

void detail::broker_entry::forget_watcher() noexcept {
  for (const auto& pairing : pairings_)
    pairing.cell->watcher = nullptr;
  for (const auto& plan : plans_) {
    for (const auto& output : plan->outputs)
      output.cell->watcher = nullptr;
  }
}

void detail::broker_entry::name_outputs() {
  for (const auto& plan : plans_) {
    for (auto& output : plan->outputs) {
      output.cell = output.cell->copy();
      output.cell->output = output.name;
    }
  }
}

result<void> detail::broker_entry::pair_publishers(runtime& rt, observer* watcher,
                                                   const std::vector<std::shared_ptr<publish_layer>>& layers) {
  for (auto& [cell, pair] : pairings_) {
    auto port = pair(connected());
    if (!port) return fail(std::move(port).error());
    cell->port = std::move(*port);
    cell->runtime = &rt;
    cell->pipeline.layers = layers;
    cell->piped = !cell->pipeline.empty();
    cell->watcher = watcher;
    cell->broker = name();
    cell->live.store(cell->port.get(), std::memory_order_release);
  }
  return {};
}

} // namespace millrace
