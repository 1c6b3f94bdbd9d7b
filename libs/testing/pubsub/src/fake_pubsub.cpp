#include <millrace/testing/pubsub.hpp>

#include "fake_state.hpp"

#include <stdexcept>

namespace millrace::testing {
namespace {

using model::method;

/// A call that a test makes itself.
model::call_answer call(fake_pubsub::state& server, method which, const google::protobuf::MessageLite& request) {
  const std::lock_guard lock(server.mutex);
  return server.service.call(which, request.SerializeAsString(), std::chrono::steady_clock::now());
}

void must(const model::call_answer& answer, const std::string& name) {
  if (!answer.status.ok()) throw std::runtime_error("fake Pub/Sub: " + name + ": " + answer.status.text);
}

/// Of a subscription; 0 if there is none.
std::size_t count(fake_pubsub::state& server, const std::string& name,
                  std::size_t (model::message_queue::*of)() const noexcept) {
  const std::lock_guard lock(server.mutex);
  const model::message_queue* const found = server.service.find(name);
  return found == nullptr ? 0 : (found->*of)();
}

wire::Subscription wire_of(const fake_pubsub::subscription& s) {
  wire::Subscription out;
  out.set_name(s.name);
  out.set_topic(s.topic);
  out.set_enable_message_ordering(s.ordered);
  out.set_enable_exactly_once_delivery(s.exactly_once);
  out.set_filter(s.filter);
  if (!s.dead_letter_topic.empty()) {
    out.mutable_dead_letter_policy()->set_dead_letter_topic(s.dead_letter_topic);
    out.mutable_dead_letter_policy()->set_max_delivery_attempts(s.max_delivery_attempts);
  }
  if (s.retry_pause.count() > 0) {
    auto& least = *out.mutable_retry_policy()->mutable_minimum_backoff();
    least.set_seconds(s.retry_pause.count() / 1000);
    least.set_nanos(static_cast<std::int32_t>(s.retry_pause.count() % 1000 * 1'000'000));
    out.mutable_retry_policy()->mutable_maximum_backoff()->set_seconds(600);
  }
  return out;
}

fake_pubsub::subscription from_wire(const wire::Subscription& s) {
  fake_pubsub::subscription out(s.name(), s.topic());
  out.ordered = s.enable_message_ordering();
  out.exactly_once = s.enable_exactly_once_delivery();
  out.filter = s.filter();
  out.dead_letter_topic = s.dead_letter_policy().dead_letter_topic();
  out.max_delivery_attempts = s.dead_letter_policy().max_delivery_attempts();
  const auto& least = s.retry_policy().minimum_backoff();
  out.retry_pause = std::chrono::milliseconds(least.seconds() * 1000 + least.nanos() / 1'000'000);
  return out;
}

} // namespace

fake_pubsub::fake_pubsub(std::uint16_t port) : state_(std::make_unique<state>(port, nullptr)) {}
fake_pubsub::fake_pubsub(const fake_pubsub::certificate& shown, std::uint16_t port)
    : state_(std::make_unique<state>(port, &shown)) {}
fake_pubsub::~fake_pubsub() = default;

std::string fake_pubsub::address() const { return "127.0.0.1:" + std::to_string(state_->port); }

void fake_pubsub::create_topic(const std::string& name) {
  wire::Topic topic;
  topic.set_name(name);
  must(call(*state_, method::create_topic, topic), name);
}

void fake_pubsub::create_subscription(const fake_pubsub::subscription& wanted) {
  must(call(*state_, method::create_subscription, wire_of(wanted)), wanted.name);
}

void fake_pubsub::delete_topic(const std::string& name) {
  wire::DeleteTopicRequest request;
  request.set_topic(name);
  must(call(*state_, method::delete_topic, request), name);
}

void fake_pubsub::delete_subscription(const std::string& name) {
  wire::DeleteSubscriptionRequest request;
  request.set_subscription(name);
  must(call(*state_, method::delete_subscription, request), name);
}

bool fake_pubsub::has_topic(const std::string& name) const {
  wire::GetTopicRequest request;
  request.set_topic(name);
  return call(*state_, method::get_topic, request).status.ok();
}

std::optional<fake_pubsub::subscription> fake_pubsub::find_subscription(const std::string& name) const {
  const std::lock_guard lock(state_->mutex);
  model::message_queue* const found = state_->service.find(name);
  if (found == nullptr) return std::nullopt;
  return from_wire(found->settings());
}

std::size_t fake_pubsub::waiting(const std::string& name) const {
  return count(*state_, name, &model::message_queue::waiting);
}

std::size_t fake_pubsub::outstanding(const std::string& name) const {
  return count(*state_, name, &model::message_queue::outstanding);
}

std::size_t fake_pubsub::open_streams(const std::string& name) const {
  return count(*state_, name, &model::message_queue::streams);
}

void fake_pubsub::fail_next(std::string_view name, int code, std::size_t times, std::string text) {
  model::call_status failure;
  failure.code = static_cast<model::status_code>(code);
  failure.text = std::move(text);
  const std::lock_guard lock(state_->mutex);
  state_->script_of(name).failures.assign(times, failure);
}

void fake_pubsub::refuse_payload(std::string payload) {
  const std::lock_guard lock(state_->mutex);
  state_->refused_payloads.insert(std::move(payload));
}

void fake_pubsub::refuse_acks_for_now(std::size_t calls) {
  const std::lock_guard lock(state_->mutex);
  state_->acks_refused_for_now = calls;
}

void fake_pubsub::slow_down(std::string_view name, std::chrono::milliseconds by) {
  const std::lock_guard lock(state_->mutex);
  state_->script_of(name).slow = by;
}

void fake_pubsub::hold(std::string_view name, bool on) {
  const std::lock_guard lock(state_->mutex);
  auto& script = state_->script_of(name);
  script.held = on;
  if (on) return;
  const auto waiting = std::exchange(script.waiting, {});
  for (const auto& send : waiting)
    send();
}

void fake_pubsub::end_streams(int code, const std::string& text) {
  model::call_status why;
  why.code = static_cast<model::status_code>(code);
  why.text = text;
  const std::lock_guard lock(state_->mutex);
  state_->service.end_streams(why);
}

void fake_pubsub::expire_leases(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  if (model::message_queue* const found = state_->service.find(name); found != nullptr)
    found->expire_all(std::chrono::steady_clock::now());
}

std::size_t fake_pubsub::calls(std::string_view name) const {
  const std::lock_guard lock(state_->mutex);
  return state_->script_of(name).calls;
}

void fake_pubsub::record(std::string_view name) {
  const std::lock_guard lock(state_->mutex);
  state_->script_of(name).recorded = true;
}

std::vector<std::string> fake_pubsub::recorded(std::string_view name) const {
  const std::lock_guard lock(state_->mutex);
  return state_->script_of(name).bodies;
}

std::string fake_pubsub::last_authorization() const {
  const std::lock_guard lock(state_->mutex);
  return state_->last_authorization;
}

} // namespace millrace::testing
