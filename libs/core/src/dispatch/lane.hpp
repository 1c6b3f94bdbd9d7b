#pragma once

#include <millrace/invocation.hpp>
#include <millrace/observer.hpp>
#include <millrace/task.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>

namespace millrace {

class subscription_loop;

/// How one message ended, before it is settled.
struct ending {
  std::optional<outcome> chosen; ///< nothing: stays unsettled
  handled_event::failure failure = handled_event::failure::none;
  std::string text;
  bool stops_service = false;
};

/// One worker of a subscription: handles one message at a time, from the inbox to the settlement, and owns what it
/// reuses. Continues on the runtime whenever a handler or a settlement had suspended.
class lane {
 public:
  lane(subscription_loop& loop, std::unique_ptr<invocation> call);
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  ~lane();

  /// Handles messages until the inbox is empty or a handler suspends.
  void drive() noexcept;
  /// Makes the runtime call `drive`.
  void wake() noexcept;

  incoming_batch batch; ///< what a sequential loop took at once

 private:
  [[nodiscard]] bool handle(incoming& m) noexcept;
  void handler_ended() noexcept;
  [[nodiscard]] bool finish() noexcept;
  [[nodiscard]] bool finish_with(ending how) noexcept;
  void finished() noexcept;
  [[nodiscard]] ending thrown(const std::exception_ptr& what) noexcept;
  [[nodiscard]] ending undecodable() noexcept;
  [[nodiscard]] ending by_policy(failure_policy policy, handled_event::failure failure, std::string text) noexcept;

  struct drive_job : job {
    explicit drive_job(lane& self) noexcept;
    lane* owner;
  };
  struct handler_end : completion, job {
    explicit handler_end(lane& self) noexcept;
    lane* owner;
  };
  struct settle_end : completion, job {
    explicit settle_end(lane& self) noexcept;
    lane* owner;
  };

  subscription_loop* loop_;
  std::unique_ptr<invocation> call_;
  incoming* current_ = nullptr;
  rendezvous meeting_;
  task<void> settling_;
  drive_job drive_;
  handler_end handler_end_;
  settle_end settle_end_;
};

} // namespace millrace
