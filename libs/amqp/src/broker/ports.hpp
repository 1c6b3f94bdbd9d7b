#pragma once

#include "session/coordinator.hpp"
#include "session/hub.hpp"
#include "session/reply_link.hpp"

#include <millrace/amqp/publish.hpp>
#include <millrace/outgoing.hpp>

#include <memory>

namespace millrace::amqp::detail {

/// A live publisher: every message to the sender of its destination.
class publisher_port : public publish_port {
 public:
  publisher_port(std::shared_ptr<hub> to, const message_options& defaults, node_kind kind)
      : hub_(std::move(to)), defaults_(defaults), kind_(kind) {
    defaults_.durable = defaults.durable.value_or(true);
  }
  void publish(const outgoing& message, publish_operation& op) noexcept override;
  void publish_in(std::shared_ptr<open_work> work, const outgoing& message, publish_operation& op) noexcept;

 protected:
  [[nodiscard]] outbound_message outbound(const outgoing& message) const noexcept;
  [[nodiscard]] const std::shared_ptr<hub>& shared() const noexcept { return hub_; }
  [[nodiscard]] node_kind kind() const noexcept { return kind_; }

 private:
  std::shared_ptr<hub> hub_;
  message_options defaults_;
  node_kind kind_;
};

/// With requests.
class requester_port final : public publisher_port {
 public:
  requester_port(std::shared_ptr<hub> to, std::shared_ptr<reply_link> replies, const message_options& defaults,
                 node_kind kind)
      : publisher_port(std::move(to), defaults, kind), request_defaults_(defaults), replies_(std::move(replies)) {}
  task<result<reply_message>> request(outgoing message, duration timeout) override;

 private:
  message_options request_defaults_; ///< of which `durable` is false unless it was set
  std::shared_ptr<reply_link> replies_;
};

/// With transactions of the peer.
class transactional_port final : public publisher_port, public std::enable_shared_from_this<transactional_port> {
 public:
  transactional_port(std::shared_ptr<hub> to, const message_options& defaults, node_kind kind)
      : publisher_port(to, defaults, kind), coordinator_(std::make_shared<coordinator>(std::move(to))) {}
  task<result<std::unique_ptr<transaction_port>>> begin(transaction_kind kind) override;

 private:
  std::shared_ptr<coordinator> coordinator_;
};

} // namespace millrace::amqp::detail
