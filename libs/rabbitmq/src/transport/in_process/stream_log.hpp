#pragma once

#include "transport/in_process/queue.hpp"

#include <vector>

namespace millrace::rabbitmq::detail::in_process {

/// A stream: what was published stays, and each consumer reads from its own offset. Retention is not modelled.
class stream_log final : public queue {
 public:
  using queue::queue;
  [[nodiscard]] std::size_t ready() const noexcept override { return log_.size(); }
  bool enqueue(const message_ptr& m) override;
  answer<void> settle(queued m, ending how) override;
  void work() override;
  answer<void> add(consumer_ptr c) override;

 private:
  [[nodiscard]] answer<std::uint64_t> start_of(const consumer& c) const;
  std::vector<message_ptr> log_;
};

} // namespace millrace::rabbitmq::detail::in_process
