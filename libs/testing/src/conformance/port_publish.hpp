#pragma once

#include <millrace/outgoing.hpp>

#include <coroutine>
#include <memory>
#include <string>

namespace millrace::testing::conformance {

/// `result<receipt> sent = co_await port_publish(rt, port, message)`: one publish through the seam, to the broker or
/// into a transaction. Named first, as it must not move.
template <class Port> class port_publish {
 public:
  port_publish(runtime& rt, Port& port, const outgoing& message) noexcept
      : port_(&port), message_(message), operation_(&rt) {}
  [[nodiscard]] bool await_ready() noexcept {
    port_->publish(message_, operation_);
    return operation_.done();
  }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return operation_.wait(waiter); }
  [[nodiscard]] result<receipt> await_resume() noexcept { return operation_.take(); }

 private:
  Port* port_;
  outgoing message_;
  publish_operation operation_;
};

/// One publish that owns its pieces and its port.
[[nodiscard]] task<result<receipt>> publish_with(runtime& rt, std::shared_ptr<publish_port> port,
                                                 std::string destination, std::string payload,
                                                 const header_map* headers = nullptr);

} // namespace millrace::testing::conformance
