#pragma once

#include "session/connection.hpp"

#include <millrace/outgoing.hpp>

#include <memory>

namespace millrace::nats::detail {

/// What every publish checks before anything is sent: the closed flag first (lifecycle N6), then the subject, then the
/// headers. Null: all is well.
[[nodiscard]] std::optional<error> check_outgoing(const connection& shared, const outgoing& message);

/// Core NATS: success is "handed to the connection". Requests as well.
class core_publisher final : public publish_port {
 public:
  explicit core_publisher(std::shared_ptr<connection> shared) noexcept
      : shared_(std::move(shared)), wire_(shared_->wire()), plain_(wire_.plain()) {}

  void publish(const outgoing& message, publish_operation& op) noexcept override;
  [[nodiscard]] task<result<reply_message>> request(outgoing message, duration timeout) override;

 private:
  [[gnu::noinline]] void publish_checked(const outgoing& message, publish_operation& op) noexcept;
  std::shared_ptr<connection> shared_;
  transport& wire_;
  plain_publish plain_;
};

} // namespace millrace::nats::detail
