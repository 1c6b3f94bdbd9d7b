#include <millrace/pubsub/subscription.hpp>

#include <millrace/pubsub/errors.hpp>

#include <algorithm>

namespace millrace::pubsub {

std::chrono::seconds subscription::ack_extension() const noexcept {
  return std::clamp(std::chrono::ceil<std::chrono::seconds>(extension_), std::chrono::seconds(10),
                    std::chrono::seconds(600));
}

result<void> subscription::check() const {
  const auto refuse = [this](const char* why) -> result<void> {
    return fail(errc::invalid_descriptor, "subscription '" + name_ + "': " + why);
  };
  if (name_.empty()) return refuse("the name is empty");
  if (creates_ && topic_.empty()) return refuse("create_with_topic has an empty topic");
  if (messages_ <= 0) return refuse("max_outstanding: at least one message");
  if (bytes_ < 0) return refuse("max_outstanding: the bytes are negative");
  if (max_lease_ <= duration::zero()) return refuse("max_lease is not positive");
  return {};
}

} // namespace millrace::pubsub
