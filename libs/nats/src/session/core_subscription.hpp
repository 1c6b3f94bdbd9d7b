#pragma once

#include "session/call_gate.hpp"
#include "session/core_delivery.hpp"

#include <millrace/broker.hpp>

#include <atomic>
#include <string>

namespace millrace::nats::detail {

/// Hands what one SUB receives to its sink. Holds at most the pending limit; what is above is dropped and counted.
class core_reader final : public receiver, public connection_observer {
 public:
  core_reader(std::shared_ptr<connection> shared, sink& to, std::string subject);

  void on_message(received message, bool more) noexcept override;
  void on_cut_short() noexcept override { hand_over(); }
  void on_dropped(std::uint64_t count) noexcept override;
  void on_connection_lost(const error& why) noexcept override;
  void on_connection_restored() noexcept override;
  void on_connection_gone(const error& why) noexcept override;

  /// After this the sink is not called for the connection's fate; messages end with the wire subscription.
  void close() noexcept { gate_.close(); }

 private:
  void hand_over() noexcept;

  const deliver_from from_;
  core_pool::owner pool_;
  sink& sink_;
  incoming_batch burst_; ///< of the delivering thread: what came together goes on together
  std::string subject_;
  call_gate gate_;
};

class core_subscription final : public subscription_port {
 public:
  core_subscription(std::shared_ptr<connection> shared, std::shared_ptr<core_reader> reader,
                    std::unique_ptr<wire_subscription> wire) noexcept;
  ~core_subscription() override;

  [[nodiscard]] task<void> stop() override;
  [[nodiscard]] bool redelivers() const noexcept override { return false; }

 private:
  std::shared_ptr<connection> shared_;
  std::shared_ptr<core_reader> reader_;
  std::unique_ptr<wire_subscription> wire_;
};

/// SUB, flush, and a look at what the server said (lifecycle N3; nats 12.5, 12.6).
[[nodiscard]] task<open_result> open_core(std::shared_ptr<connection> shared, std::string subject, std::string queue,
                                          sink& to);

} // namespace millrace::nats::detail
