#pragma once

#include "session/lane.hpp"
#include "session/request_lane.hpp"

#include <millrace/outgoing.hpp>
#include <millrace/rabbitmq/publish.hpp>

#include <memory>
#include <string>

namespace millrace::rabbitmq::detail {

/// A live publisher of one policy over its lane.
class lane_publisher : public publish_port, public std::enable_shared_from_this<lane_publisher> {
 public:
  lane_publisher(std::shared_ptr<lane> to, std::string exchange, message_options defaults, bool mandatory)
      : lane_(std::move(to)), exchange_(std::move(exchange)), defaults_(std::move(defaults)), mandatory_(mandatory) {}
  void publish(const outgoing& message, publish_operation& op) noexcept override;

  /// The frames of one message, addressed to no channel.
  [[nodiscard]] result<std::string> encode(const outgoing& message) const;

 protected:
  [[nodiscard]] const std::shared_ptr<lane>& out() const noexcept { return lane_; }
  /// The text of an expiration lives in `room`.
  [[nodiscard]] result<message_properties> properties_of(const outgoing& message, char (&room)[16]) const;
  [[nodiscard]] const std::string& exchange() const noexcept { return exchange_; }

 private:
  std::shared_ptr<lane> lane_;
  std::string exchange_;
  message_options defaults_;
  bool mandatory_;
};

/// A publisher whose transactions are buffers, published and confirmed at the commit.
class confirming_publisher final : public lane_publisher {
 public:
  using lane_publisher::lane_publisher;
  task<result<std::unique_ptr<transaction_port>>> begin(transaction_kind kind) override;
};

/// A live requester.
class requester final : public lane_publisher {
 public:
  requester(std::shared_ptr<request_lane> to, std::string exchange, message_options defaults)
      : lane_publisher(to, std::move(exchange), std::move(defaults), false), lane_(std::move(to)) {}
  task<result<reply_message>> request(outgoing message, duration timeout) override;

 private:
  std::shared_ptr<request_lane> lane_;
};

} // namespace millrace::rabbitmq::detail
