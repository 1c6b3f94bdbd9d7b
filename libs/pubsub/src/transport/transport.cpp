#include "transport/transport.hpp"

namespace millrace::pubsub::detail {

std::string_view path_of(method m) noexcept {
  constexpr std::string_view paths[methods] = {
      "/google.pubsub.v1.Publisher/CreateTopic",         "/google.pubsub.v1.Publisher/GetTopic",
      "/google.pubsub.v1.Publisher/DeleteTopic",         "/google.pubsub.v1.Publisher/Publish",
      "/google.pubsub.v1.Subscriber/CreateSubscription", "/google.pubsub.v1.Subscriber/GetSubscription",
      "/google.pubsub.v1.Subscriber/UpdateSubscription", "/google.pubsub.v1.Subscriber/DeleteSubscription",
      "/google.pubsub.v1.Subscriber/Acknowledge",        "/google.pubsub.v1.Subscriber/ModifyAckDeadline",
      "/google.pubsub.v1.Subscriber/StreamingPull"};
  return paths[static_cast<std::size_t>(m)];
}

} // namespace millrace::pubsub::detail
