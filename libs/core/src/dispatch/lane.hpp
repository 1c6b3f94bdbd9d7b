#pragma once

#include "dispatch/chained_call.hpp"
#include "dispatch/replies.hpp"
#include "dispatch/worker.hpp"

#include <memory>
#include <optional>

namespace millrace {

/// A worker that handles one message at a time, from the inbox to the settlement, and owns what it reuses.
class lane final : public worker {
 public:
  lane(subscription_loop& loop, std::unique_ptr<invocation> call);
  void drive() noexcept override;

 private:
  friend class worker;
  [[nodiscard]] bool handle(incoming& m) noexcept;
  void handler_ended() noexcept;
  [[nodiscard]] bool finish() noexcept;
  [[nodiscard]] bool finish_reply() noexcept;
  [[nodiscard]] bool finish_with(ending how) noexcept;
  void settled() noexcept;
  void finished() noexcept;

  chained_call<invocation> call_;
  incoming* current_ = nullptr;
  std::optional<reply_publish> reply_;
  task<void> settling_;
  step_end<lane, &lane::handler_ended> handler_end_;
  step_end<lane, &lane::settled> settle_end_;
};

} // namespace millrace
