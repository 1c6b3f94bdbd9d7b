#pragma once

#include "dispatch/chained_call.hpp"
#include "dispatch/worker.hpp"

#include <millrace/batch_invocation.hpp>

#include <memory>
#include <vector>

namespace millrace {

/// A worker that handles batches: gathers up to the size, or until the deadline from the first element; settles what
/// does not decode alone; calls the handler once; settles every element.
class batch_lane final : public worker {
 public:
  batch_lane(subscription_loop& loop, std::unique_ptr<batch_invocation> call);
  void drive() noexcept override;

  // For the loop, under its mutex.
  [[nodiscard]] bool begin_wait() noexcept;
  [[nodiscard]] bool end_wait() noexcept;
  void deadline_ran() noexcept { deadline_to_come_ = false; }

 private:
  friend class worker;
  [[nodiscard]] bool gather() noexcept;
  void deadline() noexcept;
  [[nodiscard]] bool handle() noexcept;
  void prepared() noexcept;
  [[nodiscard]] bool call_handler() noexcept;
  void handler_ended() noexcept;
  [[nodiscard]] bool finish() noexcept;
  void settled() noexcept;
  void finished() noexcept;
  [[nodiscard]] bool run(task<void> work, completion& end) noexcept;
  task<void> settle_undecodable();
  task<void> settle_elements();
  [[nodiscard]] ending element_ending(std::size_t i);
  [[nodiscard]] bool all_plain() const noexcept;
  [[nodiscard]] std::unique_ptr<detail::settled_hook> batch_hooks();

  struct deadline_timer : timer {
    explicit deadline_timer(batch_lane& self) noexcept;
    batch_lane* owner;
  };
  struct deadline_job : job {
    explicit deadline_job(batch_lane& self) noexcept;
    batch_lane* owner;
  };
  struct rejected {
    incoming* message;
    error why;
  };

  chained_call<batch_invocation> call_;
  std::vector<incoming*> elements_; ///< what the handler sees
  std::vector<rejected> rejected_;
  std::optional<ending> failed_; ///< the handler threw: the policy's ending of the whole batch
  task<void> step_;
  bool deadline_to_come_ = false;
  bool take_all_ = false;
  deadline_timer timer_;
  deadline_job deadline_;
  step_end<batch_lane, &batch_lane::prepared> prepared_end_;
  step_end<batch_lane, &batch_lane::handler_ended> handler_end_;
  step_end<batch_lane, &batch_lane::settled> settle_end_;
};

} // namespace millrace
