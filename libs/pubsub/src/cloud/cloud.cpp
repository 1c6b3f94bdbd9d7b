#include "cloud/cloud.hpp"

#include "cloud/rules.hpp"

#include <algorithm>

namespace millrace::pubsub::detail {
namespace {

constexpr int default_deadline = 10;
constexpr std::string_view deleted_topic = "_deleted-topic_";

template <class Message> bool parse(Message& to, std::string_view body) {
  return to.ParseFromArray(body.data(), static_cast<int>(body.size()));
}

call_status malformed() { return refuse(status_code::internal, "the request cannot be decoded"); }

std::string topic_of_same_id(const std::string& subscription) {
  std::string name = subscription;
  const std::string_view from = "/subscriptions/";
  if (const auto at = name.find(from); at != std::string::npos) name.replace(at, from.size(), "/topics/");
  return name;
}

} // namespace

call_answer cloud::call(method which, std::string_view body, time_point now) {
  call_answer answer;
  answer.status = dispatch(which, body, answer.body, now);
  if (!answer.status.ok()) answer.body.clear();
  return answer;
}

call_status cloud::dispatch(method which, std::string_view body, std::string& out, time_point now) {
  switch (which) {
  case method::create_topic:
    return create_topic(body, out);
  case method::get_topic:
    return get_topic(body, out);
  case method::delete_topic:
    return delete_topic(body);
  case method::publish:
    return publish(body, out);
  case method::create_subscription:
    return create_subscription(body, out);
  case method::get_subscription:
    return get_subscription(body, out);
  case method::update_subscription:
    return update_subscription(body, out);
  case method::delete_subscription:
    return delete_subscription(body);
  case method::acknowledge:
    return acknowledge(body);
  case method::modify_ack_deadline:
    return modify(body, now);
  case method::streaming_pull:
    break;
  }
  return refuse(status_code::unimplemented, "no such method");
}

cloud::topic* cloud::topic_of(const std::string& name) {
  const auto at = topics_.find(name);
  if (at != topics_.end()) return &at->second;
  if (!options_.implicit || !check_name("topics", name).ok()) return nullptr;
  return &topics_[name];
}

message_queue* cloud::find(const std::string& name) {
  const auto at = subscriptions_.find(name);
  return at == subscriptions_.end() ? nullptr : at->second.get();
}

message_queue* cloud::queue_of(const std::string& name) {
  if (message_queue* const known = find(name); known != nullptr) return known;
  if (!options_.implicit || !check_name("subscriptions", name).ok()) return nullptr;
  wire::Subscription made;
  made.set_name(name);
  made.set_topic(topic_of_same_id(name));
  made.set_enable_message_ordering(true);
  if (topic_of(made.topic()) == nullptr) return nullptr;
  add(std::move(made));
  return find(name);
}

void cloud::add(wire::Subscription settings) {
  if (settings.ack_deadline_seconds() == 0) settings.set_ack_deadline_seconds(default_deadline);
  if (settings.has_dead_letter_policy() && settings.dead_letter_policy().max_delivery_attempts() == 0)
    settings.mutable_dead_letter_policy()->set_max_delivery_attempts(5);
  topics_[settings.topic()].subscriptions.push_back(settings.name());
  const std::string name = settings.name();
  subscriptions_[name] = std::make_unique<message_queue>(std::move(settings));
}

call_status cloud::create_topic(std::string_view body, std::string& out) {
  wire::Topic wanted;
  if (!parse(wanted, body)) return malformed();
  if (call_status name = check_name("topics", wanted.name()); !name.ok()) return name;
  if (!topics_.try_emplace(wanted.name()).second)
    return refuse(status_code::already_exists, "Topic already exists: " + wanted.name());
  out = wanted.SerializeAsString();
  return {};
}

call_status cloud::get_topic(std::string_view body, std::string& out) {
  wire::GetTopicRequest request;
  if (!parse(request, body)) return malformed();
  if (!topics_.contains(request.topic())) return not_found(request.topic());
  wire::Topic found;
  found.set_name(request.topic());
  out = found.SerializeAsString();
  return {};
}

call_status cloud::delete_topic(std::string_view body) {
  wire::DeleteTopicRequest request;
  if (!parse(request, body)) return malformed();
  const auto at = topics_.find(request.topic());
  if (at == topics_.end()) return not_found(request.topic());
  for (const std::string& name : at->second.subscriptions)
    if (message_queue* const queue = find(name); queue != nullptr)
      queue->settings().set_topic(std::string(deleted_topic));
  topics_.erase(at);
  return {};
}

void cloud::store(const topic& to, wire::PubsubMessage message) {
  auto stored = std::make_shared<stored_message>();
  stored->sequence = last_message_;
  stored->bytes = message.ByteSizeLong();
  stored->message = std::move(message);
  for (const std::string& name : to.subscriptions) {
    message_queue* const queue = find(name);
    if (queue == nullptr) continue;
    queue->publish(stored);
    touched_.insert(name);
  }
}

call_status cloud::publish(std::string_view body, std::string& out) {
  wire::PublishRequest request;
  if (!parse(request, body)) return malformed();
  if (call_status checked = check_publish(request); !checked.ok()) return checked;
  topic* const to = topic_of(request.topic());
  if (to == nullptr) return not_found(request.topic());
  wire::PublishResponse response;
  const std::int64_t now = options_.clock();
  for (wire::PubsubMessage& m : *request.mutable_messages()) {
    m.set_message_id(std::to_string(++last_message_));
    m.mutable_publish_time()->set_seconds(now / 1'000'000'000);
    m.mutable_publish_time()->set_nanos(static_cast<std::int32_t>(now % 1'000'000'000));
    response.add_message_ids(m.message_id());
    store(*to, std::move(m));
  }
  out = response.SerializeAsString();
  return {};
}

call_status cloud::create_subscription(std::string_view body, std::string& out) {
  wire::Subscription wanted;
  if (!parse(wanted, body)) return malformed();
  if (call_status checked = check_subscription(wanted); !checked.ok()) return checked;
  if (find(wanted.name()) != nullptr)
    return refuse(status_code::already_exists, "Subscription already exists: " + wanted.name());
  if (topic_of(wanted.topic()) == nullptr) return not_found(wanted.topic());
  if (wanted.has_dead_letter_policy() && topic_of(wanted.dead_letter_policy().dead_letter_topic()) == nullptr)
    return not_found(wanted.dead_letter_policy().dead_letter_topic());
  const std::string name = wanted.name();
  add(std::move(wanted));
  out = find(name)->settings().SerializeAsString();
  return {};
}

call_status cloud::get_subscription(std::string_view body, std::string& out) {
  wire::GetSubscriptionRequest request;
  if (!parse(request, body)) return malformed();
  message_queue* const found = find(request.subscription());
  if (found == nullptr) return not_found(request.subscription());
  out = found->settings().SerializeAsString();
  return {};
}

call_status cloud::update_subscription(std::string_view body, std::string& out) {
  wire::UpdateSubscriptionRequest request;
  if (!parse(request, body)) return malformed();
  const wire::Subscription& wanted = request.subscription();
  message_queue* const queue = queue_of(wanted.name());
  if (queue == nullptr) return not_found(wanted.name());
  if (call_status checked = check_dead_letters(wanted); !checked.ok()) return checked;
  if (wanted.has_dead_letter_policy() && topic_of(wanted.dead_letter_policy().dead_letter_topic()) == nullptr)
    return not_found(wanted.dead_letter_policy().dead_letter_topic());
  wire::Subscription& settings = queue->settings();
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "dead_letter_policy")
      *settings.mutable_dead_letter_policy() = wanted.dead_letter_policy();
    else if (path == "retry_policy")
      *settings.mutable_retry_policy() = wanted.retry_policy();
    else if (path == "ack_deadline_seconds")
      settings.set_ack_deadline_seconds(wanted.ack_deadline_seconds());
    else
      return refuse(status_code::invalid_argument, "cannot update " + path);
  }
  out = settings.SerializeAsString();
  return {};
}

call_status cloud::delete_subscription(std::string_view body) {
  wire::DeleteSubscriptionRequest request;
  if (!parse(request, body)) return malformed();
  const auto at = subscriptions_.find(request.subscription());
  if (at == subscriptions_.end()) return not_found(request.subscription());
  const std::unique_ptr<message_queue> gone = std::move(at->second);
  subscriptions_.erase(at);
  if (const auto topic = topics_.find(gone->settings().topic()); topic != topics_.end())
    std::erase(topic->second.subscriptions, request.subscription());
  std::erase_if(streams_, [&](const auto& s) { return s.second == request.subscription(); });
  gone->end_streams(not_found(request.subscription()));
  return {};
}

call_status cloud::acknowledge(std::string_view body) {
  wire::AcknowledgeRequest request;
  if (!parse(request, body)) return malformed();
  message_queue* const queue = find(request.subscription());
  if (queue == nullptr) return not_found(request.subscription());
  std::vector<std::string> late;
  for (const std::string& id : request.ack_ids())
    if (!queue->acknowledge(id)) late.push_back(id);
  touched_.insert(request.subscription());
  if (late.empty() || !queue->settings().enable_exactly_once_delivery()) return {};
  return refuse_ack_ids(late, "PERMANENT_FAILURE_INVALID_ACK_ID");
}

call_status cloud::modify(std::string_view body, time_point now) {
  wire::ModifyAckDeadlineRequest request;
  if (!parse(request, body)) return malformed();
  if (request.ack_deadline_seconds() < 0 || request.ack_deadline_seconds() > 600)
    return refuse(status_code::invalid_argument, "ack_deadline_seconds is 0 to 600");
  message_queue* const queue = find(request.subscription());
  if (queue == nullptr) return not_found(request.subscription());
  std::vector<std::string> late;
  for (const std::string& id : request.ack_ids())
    if (!queue->modify(id, std::chrono::seconds(request.ack_deadline_seconds()), now)) late.push_back(id);
  touched_.insert(request.subscription());
  if (late.empty() || !queue->settings().enable_exactly_once_delivery()) return {};
  return refuse_ack_ids(late, "PERMANENT_FAILURE_INVALID_ACK_ID");
}

call_status cloud::attach(cloud_stream& to, std::string_view first, time_point /*now*/) {
  wire::StreamingPullRequest request;
  if (!parse(request, first)) return malformed();
  message_queue* const queue = queue_of(request.subscription());
  if (queue == nullptr) return not_found(request.subscription());
  if (queue->settings().detached()) return refuse(status_code::failed_precondition, "the subscription is detached");
  if (request.stream_ack_deadline_seconds() < 10 || request.stream_ack_deadline_seconds() > 600)
    return refuse(status_code::invalid_argument, "stream_ack_deadline_seconds is 10 to 600");
  streams_[&to] = request.subscription();
  queue->attach(to, request);
  touched_.insert(request.subscription());
  return {};
}

call_status cloud::request(cloud_stream& from, std::string_view body, time_point now) {
  wire::StreamingPullRequest request;
  if (!parse(request, body)) return malformed();
  if (!request.subscription().empty() || request.max_outstanding_messages() != 0 ||
      request.max_outstanding_bytes() != 0)
    return refuse(status_code::invalid_argument, "only the first request has a subscription and limits");
  if (request.modify_deadline_seconds_size() != request.modify_deadline_ack_ids_size())
    return refuse(status_code::invalid_argument, "the two lists of deadlines differ in length");
  message_queue* const queue = find(streams_[&from]);
  if (queue == nullptr) return not_found(streams_[&from]);
  for (const std::string& id : request.ack_ids())
    (void)queue->acknowledge(id);
  for (int i = 0; i < request.modify_deadline_seconds_size(); ++i)
    (void)queue->modify(request.modify_deadline_ack_ids(i), std::chrono::seconds(request.modify_deadline_seconds(i)),
                        now);
  if (request.stream_ack_deadline_seconds() != 0)
    queue->change_deadline(from, std::chrono::seconds(request.stream_ack_deadline_seconds()));
  touched_.insert(streams_[&from]);
  return {};
}

void cloud::detach(cloud_stream& from) {
  const auto at = streams_.find(&from);
  if (at == streams_.end()) return;
  if (message_queue* const queue = find(at->second); queue != nullptr) queue->detach(from);
  touched_.insert(at->second);
  streams_.erase(at);
}

void cloud::end_streams(const call_status& why) {
  streams_.clear();
  for (const auto& [name, queue] : subscriptions_)
    queue->end_streams(why);
}

/// To the dead-letter topic, with what the service adds; where there is none the message stays.
void cloud::bury(message_queue& from) {
  const wire::Subscription& settings = from.settings();
  for (message_queue::spent& one : from.take_spent()) {
    const topic* const to = topic_of(settings.dead_letter_policy().dead_letter_topic());
    if (to == nullptr) {
      from.publish(std::move(one.message));
      continue;
    }
    wire::PubsubMessage letter = one.message->message;
    auto& attributes = *letter.mutable_attributes();
    attributes["CloudPubSubDeadLetterSourceDeliveryCount"] = std::to_string(one.attempts);
    attributes["CloudPubSubDeadLetterSourceSubscription"] = settings.name().substr(settings.name().rfind('/') + 1);
    letter.set_message_id(std::to_string(++last_message_));
    store(*to, std::move(letter));
  }
}

void cloud::run(time_point now) {
  for (const auto& [name, queue] : subscriptions_)
    if (const auto due = queue->next_due(); due && *due <= now) touched_.insert(name);
  while (!touched_.empty()) {
    const std::string name = *touched_.begin();
    touched_.erase(touched_.begin());
    message_queue* const queue = find(name);
    if (queue == nullptr) continue;
    queue->run(now);
    bury(*queue);
  }
}

std::optional<time_point> cloud::next_due() const {
  std::optional<time_point> next;
  for (const auto& [name, queue] : subscriptions_)
    if (const auto due = queue->next_due(); due && (!next || *due < *next)) next = due;
  return next;
}

} // namespace millrace::pubsub::detail
