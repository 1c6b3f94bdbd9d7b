#pragma once

#include "transport/in_process/queue.hpp"

#include <map>
#include <utility>

namespace millrace::rabbitmq::detail::in_process {

/// A classic or quorum queue: what is ready, in order, and what bounds it.
class ready_queue final : public queue {
 public:
  using queue::queue;
  [[nodiscard]] std::size_t ready() const noexcept override { return ready_.size(); }
  bool enqueue(const message_ptr& m) override;
  answer<void> settle(queued m, ending how) override;
  void work() override;
  [[nodiscard]] std::optional<time_point> next_due() const override;

 private:
  using rank = std::pair<int, std::uint64_t>; ///< the priority, negative, then the position

  [[nodiscard]] rank rank_of(const queued& m) const noexcept;
  [[nodiscard]] bool is_full(std::size_t more, std::size_t bytes) const noexcept;
  void insert(queued m);
  queued take_first();
  void bury_first(std::string_view reason);
  void give_back(queued m);

  std::map<rank, queued> ready_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
};

} // namespace millrace::rabbitmq::detail::in_process
