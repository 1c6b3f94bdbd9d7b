#include "session/clients.hpp"

#include "protocol/names.hpp"
#include "session/call.hpp"

namespace millrace::pubsub::detail {
namespace {

std::string routing_of(resource kind, const std::string& name) {
  return std::string(word_of(kind)) + "=" + percent_encoded(name);
}

std::unexpected<error> refused(resource kind, const std::string& name, const char* what, const call_status& status) {
  return fail(status_error(errc::admin, std::string(word_of(kind)) + " '" + name + "': " + what, status));
}

} // namespace

task<result<bool>> topic_admin::ensure(std::string full_name, time_point due) {
  const std::string routing = routing_of(resource::topic, full_name);
  wire::GetTopicRequest looked_for;
  looked_for.set_topic(full_name);
  const call_answer found = co_await call_until(shared_.wire(), shared_.clock(), method::get_topic,
                                                looked_for.SerializeAsString(), routing, due, retries_admin);
  if (found.status.ok()) co_return false;
  if (found.status.code != status_code::not_found)
    co_return refused(resource::topic, full_name, "cannot look it up", found.status);
  wire::Topic wanted;
  wanted.set_name(full_name);
  const call_answer made = co_await call_until(shared_.wire(), shared_.clock(), method::create_topic,
                                               wanted.SerializeAsString(), routing, due, retries_admin);
  if (made.status.code == status_code::already_exists) co_return false; // somebody else was faster
  if (!made.status.ok()) co_return refused(resource::topic, full_name, "cannot create it", made.status);
  co_return true;
}

task<result<bool>> subscription_admin::ensure(wire::Subscription wanted, time_point due) {
  auto existing = co_await check_existing(wanted, due);
  if (!existing) co_return fail(std::move(existing.error()));
  if (*existing) co_return false;
  const call_answer made =
      co_await call_until(shared_.wire(), shared_.clock(), method::create_subscription, wanted.SerializeAsString(),
                          routing_of(resource::subscription, wanted.name()), due, retries_admin);
  if (made.status.ok()) co_return true;
  if (made.status.code != status_code::already_exists)
    co_return refused(resource::subscription, wanted.name(), "cannot create it", made.status);
  auto by_another = co_await check_existing(wanted, due);
  if (!by_another) co_return fail(std::move(by_another.error()));
  co_return false;
}

/// Whether it is there; an error where it is there with another topic (pubsub 14.7).
task<result<bool>> subscription_admin::check_existing(wire::Subscription wanted, time_point due) {
  wire::GetSubscriptionRequest looked_for;
  looked_for.set_subscription(wanted.name());
  const call_answer found =
      co_await call_until(shared_.wire(), shared_.clock(), method::get_subscription, looked_for.SerializeAsString(),
                          routing_of(resource::subscription, wanted.name()), due, retries_admin);
  if (found.status.code == status_code::not_found) co_return false;
  if (!found.status.ok()) co_return refused(resource::subscription, wanted.name(), "cannot look it up", found.status);
  wire::Subscription existing;
  if (!existing.ParseFromString(found.body) || existing.topic() != wanted.topic())
    co_return fail(errc::admin, "subscription '" + wanted.name() + "': it exists and is attached to '" +
                                    existing.topic() + "', not to '" + wanted.topic() + "'");
  co_return true;
}

task<result<void>> subscription_admin::set_dead_letters(wire::Subscription changed, time_point due) {
  wire::UpdateSubscriptionRequest update;
  const std::string name = changed.name();
  *update.mutable_subscription() = std::move(changed);
  update.mutable_update_mask()->add_paths("dead_letter_policy");
  const call_answer done =
      co_await call_until(shared_.wire(), shared_.clock(), method::update_subscription, update.SerializeAsString(),
                          routing_of(resource::subscription, name), due, retries_admin);
  if (!done.status.ok())
    co_return refused(resource::subscription, name, "cannot set its dead-letter policy", done.status);
  co_return result<void>{};
}

} // namespace millrace::pubsub::detail
