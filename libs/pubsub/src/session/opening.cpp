#include "session/opening.hpp"

#include "protocol/names.hpp"
#include "session/clients.hpp"
#include "session/leases.hpp"
#include "session/puller.hpp"

namespace millrace::pubsub::detail {
namespace {

constexpr std::uint32_t fewest_attempts = 5;
constexpr std::uint32_t most_attempts = 100;

/// Everything by full names.
struct plan {
  std::string subscription;
  std::string topic; ///< empty: nothing is created
  redelivery_declaration dead_letters;
};

error invalid(const std::string& name, const std::string& why) {
  return error(make_error_code(errc::invalid_descriptor), "subscription '" + name + "': " + why);
}

result<redelivery_declaration> read_declaration(const settings& options, const std::string& name,
                                                const open_options& declared) {
  redelivery_declaration made;
  if (!declared.max_attempts && !declared.dead_letter) return made;
  if (!declared.dead_letter)
    return fail(invalid(name, "max_attempts needs a dead_letter: the service moves spent messages there"));
  if (!declared.max_attempts)
    return fail(invalid(name, "dead_letter needs max_attempts, 5 to 100: the service counts to it"));
  if (*declared.max_attempts < fewest_attempts || *declared.max_attempts > most_attempts)
    return fail(
        invalid(name, "max_attempts(" + std::to_string(*declared.max_attempts) + "): the service takes 5 to 100"));
  result<std::string> topic = full_name(resource::topic, options.project, *declared.dead_letter);
  if (!topic) return fail(invalid(name, "dead_letter: " + topic.error().context()));
  made.max_attempts = *declared.max_attempts;
  made.dead_letter = std::move(*topic);
  return made;
}

/// All of P3 and P6, before any call.
result<plan> check(connection& shared, const pubsub::subscription& source, const open_options& declared) {
  if (result<void> checked = source.check(); !checked) return fail(std::move(checked.error()));
  const settings& options = shared.options();
  plan made;
  result<std::string> name = full_name(resource::subscription, options.project, source.name());
  if (!name) return fail(errc::invalid_descriptor, name.error().context());
  made.subscription = std::move(*name);
  if (source.creates()) {
    result<std::string> topic = full_name(resource::topic, options.project, source.topic());
    if (!topic) return fail(invalid(source.name(), "create_with_topic: " + topic.error().context()));
    made.topic = std::move(*topic);
  }
  result<redelivery_declaration> dead_letters = read_declaration(options, source.name(), declared);
  if (!dead_letters) return fail(std::move(dead_letters.error()));
  made.dead_letters = std::move(*dead_letters);
  if (result<void> same = shared.declare(made.subscription, made.dead_letters); !same)
    return fail(std::move(same.error()));
  return made;
}

wire::Subscription wire_of(const plan& p) {
  wire::Subscription s;
  s.set_name(p.subscription);
  if (p.dead_letters.max_attempts == 0) return s;
  s.mutable_dead_letter_policy()->set_dead_letter_topic(p.dead_letters.dead_letter);
  s.mutable_dead_letter_policy()->set_max_delivery_attempts(static_cast<std::int32_t>(p.dead_letters.max_attempts));
  return s;
}

/// P4. True: the subscription was created, policy and all.
task<result<bool>> create_missing(connection& shared, plan p, time_point due) {
  topic_admin topics(shared);
  subscription_admin subscriptions(shared);
  auto topic = co_await topics.ensure(p.topic, due);
  if (!topic) co_return fail(std::move(topic.error()));
  if (p.dead_letters.max_attempts != 0) {
    auto letters = co_await topics.ensure(p.dead_letters.dead_letter, due);
    if (!letters) co_return fail(std::move(letters.error()));
  }
  wire::Subscription wanted = wire_of(p);
  wanted.set_topic(p.topic);
  wanted.set_enable_message_ordering(true);
  auto made = co_await subscriptions.ensure(std::move(wanted), due);
  co_return made;
}

/// P4, then P5: a policy that is declared is written into a subscription that was there.
task<result<bool>> prepare(connection& shared, plan p, time_point due) {
  result<bool> created = false;
  if (!p.topic.empty()) {
    created = co_await create_missing(shared, p, due);
    if (!created) co_return created;
  }
  if (*created || p.dead_letters.max_attempts == 0) co_return created;
  subscription_admin subscriptions(shared);
  wire::Subscription changed = wire_of(p);
  auto updated = co_await subscriptions.set_dead_letters(std::move(changed), due);
  if (!updated) co_return fail(std::move(updated.error()));
  co_return created;
}

} // namespace

result<void> declare_registration(connection& shared, const pubsub::subscription& source, const open_options& options) {
  result<plan> checked = check(shared, source, options);
  if (!checked) return fail(std::move(checked.error()));
  return {};
}

task<open_result> open_subscription(std::shared_ptr<connection> shared, pubsub::subscription source,
                                    open_options options, sink& to) {
  result<plan> checked = check(*shared, source, options);
  if (!checked) co_return fail(std::move(checked.error()));
  if (shared->closed()) co_return fail(errc::not_connected, "subscription '" + checked->subscription + "'");
  const time_point due = shared->clock().now() + shared->options().open_timeout;
  result<bool> created = co_await prepare(*shared, *checked, due);
  if (!created) co_return fail(std::move(created.error()));
  const auto held = std::make_shared<leases>(shared, source, checked->subscription, checked->dead_letters.max_attempts);
  const auto reader = std::make_shared<puller>(shared, source, held, to);
  held->tell(reader);
  shared->add(held, reader);
  result<void> started = co_await reader->start(*created);
  if (!started) co_return fail(std::move(started.error()));
  co_return std::make_unique<pull_subscription>(reader);
}

} // namespace millrace::pubsub::detail
