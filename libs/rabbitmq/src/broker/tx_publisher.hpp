#pragma once

#include "broker/ports.hpp"
#include "session/tx_lane.hpp"

namespace millrace::rabbitmq::detail {

/// A publisher with transactions of the server; outside of them it is fire and forget on the shared channel.
class tx_publisher final : public lane_publisher {
 public:
  tx_publisher(std::shared_ptr<tx_lane> own, std::shared_ptr<lane> plain, std::string exchange,
               message_options defaults)
      : lane_publisher(std::move(plain), std::move(exchange), std::move(defaults), false), own_(std::move(own)) {}
  task<result<std::unique_ptr<transaction_port>>> begin(transaction_kind kind) override;

 private:
  std::shared_ptr<tx_lane> own_;
};

} // namespace millrace::rabbitmq::detail
