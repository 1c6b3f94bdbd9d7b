#include "cloud/rules.hpp"

#include "cloud/filter.hpp"
#include "protocol/message_codec.hpp"
#include "protocol/names.hpp"

namespace millrace::pubsub::detail {
namespace {

std::string fault_of_message(const wire::PubsubMessage& m) {
  std::size_t bytes = m.data().size() + m.ordering_key().size();
  if (m.data().empty() && m.attributes().empty()) return "a message has data or at least one attribute";
  if (static_cast<std::size_t>(m.attributes().size()) > most_attributes) return "more than 100 attributes";
  if (m.ordering_key().size() > longest_ordering_key) return "the ordering key has more than 1024 bytes";
  if (!m.message_id().empty() || m.has_publish_time()) return "the publisher sets no message_id and no publish_time";
  for (const auto& [name, value] : m.attributes()) {
    bytes += name.size() + value.size();
    if (name.empty() || name.size() > longest_key) return "an attribute's name has 1 to 256 bytes";
    if (name.starts_with("goog")) return "an attribute's name starts with goog";
    if (value.size() > longest_value) return "an attribute's value has more than 1024 bytes";
  }
  if (bytes > largest_message) return "the message has more than 10 MiB";
  return {};
}

} // namespace

call_status refuse(status_code code, std::string text) {
  call_status s;
  s.code = code;
  s.text = std::move(text);
  return s;
}

call_status not_found(std::string_view name) {
  return refuse(status_code::not_found, "Resource not found (resource=" + std::string(name) + ").");
}

call_status check_publish(const wire::PublishRequest& request) {
  const auto invalid = [](const char* why) { return refuse(status_code::invalid_argument, why); };
  if (request.messages().empty()) return invalid("the request has no message");
  if (static_cast<std::size_t>(request.messages_size()) > most_messages) return invalid("more than 1000 messages");
  if (request.ByteSizeLong() > largest_message + 64UL * 1024) return invalid("the request has more than 10 MiB");
  for (const wire::PubsubMessage& m : request.messages()) {
    if (const std::string fault = fault_of_message(m); !fault.empty()) return invalid(fault.c_str());
    if (m.ordering_key() != request.messages(0).ordering_key())
      return invalid("the messages of a request have one ordering key");
  }
  return {};
}

call_status check_name(std::string_view collection, const std::string& name) {
  const resource kind = collection == "topics" ? resource::topic : resource::subscription;
  const bool full = name.starts_with("projects/") && full_name(kind, "unused-project", name).has_value();
  return full ? call_status() : refuse(status_code::invalid_argument, "invalid name: " + name);
}

call_status check_dead_letters(const wire::Subscription& s) {
  if (!s.has_dead_letter_policy()) return {};
  const std::int32_t n = s.dead_letter_policy().max_delivery_attempts();
  if (n != 0 && (n < 5 || n > 100))
    return refuse(status_code::out_of_range, "max_delivery_attempts is 5 to 100, not " + std::to_string(n));
  return check_name("topics", s.dead_letter_policy().dead_letter_topic());
}

call_status check_subscription(const wire::Subscription& s) {
  if (call_status name = check_name("subscriptions", s.name()); !name.ok()) return name;
  if (s.ack_deadline_seconds() != 0 && (s.ack_deadline_seconds() < 10 || s.ack_deadline_seconds() > 600))
    return refuse(status_code::invalid_argument, "ack_deadline_seconds is 10 to 600");
  if (!parse_filter(s.filter())) return refuse(status_code::invalid_argument, "the filter cannot be read");
  return check_dead_letters(s);
}

call_status refuse_ack_ids(const std::vector<std::string>& ids, std::string_view why) {
  wire::ErrorInfo info;
  info.set_reason("EXACTLY_ONCE_ACKID_FAILURE");
  info.set_domain("pubsub.googleapis.com");
  for (const std::string& id : ids)
    (*info.mutable_metadata())[id] = std::string(why);
  call_status s = refuse(status_code::failed_precondition, "Some acknowledgement ids in the request were invalid.");
  wire::Status details;
  details.set_code(static_cast<int>(s.code));
  details.set_message(s.text);
  wire::Any& any = *details.add_details();
  any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any.set_value(info.SerializeAsString());
  s.details = details.SerializeAsString();
  return s;
}

} // namespace millrace::pubsub::detail
