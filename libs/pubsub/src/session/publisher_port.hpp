#pragma once

#include "session/connection.hpp"

#include <millrace/outgoing.hpp>
#include <millrace/pubsub/publish.hpp>

#include <memory>

namespace millrace::pubsub::detail {

/// A live publisher of one policy.
class publisher_port final : public publish_port {
 public:
  publisher_port(std::shared_ptr<connection> shared, const pubsub::publish& policy)
      : shared_(std::move(shared)), key_(policy.ordering_key()) {}

  void publish(const outgoing& message, publish_operation& op) noexcept override;

 private:
  [[nodiscard]] std::string_view key_of(const outgoing& message) const;
  [[nodiscard]] result<topic_publisher*> topic(std::string_view written);

  /// The topic that was published to last: most publishers know one.
  struct known_topic {
    std::string written;
    topic_publisher* publisher;
  };
  const std::shared_ptr<connection> shared_;
  const std::string key_;
  std::atomic<const known_topic*> last_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<const known_topic>> known_;
};

} // namespace millrace::pubsub::detail
