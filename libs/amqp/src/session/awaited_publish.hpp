#pragma once

#include "session/hub.hpp"

#include <coroutine>

namespace millrace::amqp::detail {

/// A publish that the client itself awaits: `auto sent = co_await handed;`. What is lent stays until then.
class awaited_publish {
 public:
  awaited_publish(hub& to, node_kind kind, std::string_view destination, const outbound_message& message,
                  time_point due) noexcept
      : to_(&to), kind_(kind), destination_(destination), message_(&message), due_(due), operation_(&to.clock) {}
  [[nodiscard]] bool await_ready() {
    to_->publish(kind_, destination_, *message_, due_, operation_);
    return operation_.done();
  }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return operation_.wait(waiter); }
  [[nodiscard]] result<receipt> await_resume() noexcept { return operation_.take(); }

 private:
  hub* to_;
  node_kind kind_;
  std::string_view destination_;
  const outbound_message* message_;
  time_point due_;
  publish_operation operation_;
};

} // namespace millrace::amqp::detail
