#pragma once

#include <millrace/incoming.hpp>
#include <millrace/invocation.hpp>
#include <millrace/observer.hpp>
#include <millrace/task.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace {

class subscription_loop; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final

/// Continuations that wait for the broker's answer to a settlement.
struct unconfirmed {
  std::shared_ptr<confirmation> answer;
  std::unique_ptr<detail::settled_hook> hooks; ///< null: only the batch waits
  settlement_kind kind = settlement_kind::ack;
};

/// What the continuations of a whole batch depend on.
struct batch_settlement {
  std::vector<unconfirmed> waiting;
  bool failed = false; ///< an element's settlement was refused at once
};

/// How one message ended, before it is settled.
struct ending {
  std::optional<outcome> chosen; ///< nothing: stays unsettled
  handled_event::failure failure = handled_event::failure::none;
  std::string text;
  bool stops_service = false;
  std::uint64_t call = 0; ///< of a batch: its number; 0: to be numbered
  std::size_t batch_size = 1;
  batch_settlement* whole = nullptr; ///< of an element: its batch, if somebody waits for that
};

/// One of the registration's workers: handles what its loop gives it, one step at a time, and continues on the runtime
/// whenever a step had suspended.
class worker {
 public:
  explicit worker(subscription_loop& loop) noexcept;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  virtual ~worker() { batch.release_all(); }

  /// Handles messages until there are none or a step suspends.
  virtual void drive() noexcept = 0;
  /// Makes the runtime call `drive`.
  void wake() noexcept;

  incoming_batch batch; ///< what the loop gave and is not begun; the loop's mutex guards it where others may add

 protected:
  /// What the failure policies of the registration make of it.
  [[nodiscard]] ending thrown(const std::exception_ptr& what) noexcept;
  [[nodiscard]] ending undecodable(const error& why) noexcept;
  void log_handler_error(const error& why) noexcept;

  /// The end of a step that may come on another thread: then the runtime continues with `Step`.
  template <class Owner, void (Owner::*Step)() noexcept> class step_end final : public completion, public job {
   public:
    explicit step_end(Owner& owner) noexcept
        : completion([](completion& c) noexcept {
            auto& self = static_cast<step_end&>(c);
            if (self.owner_->meeting_.end()) self.owner_->post(self);
          }),
          job([](job& j) noexcept { (static_cast<step_end&>(j).owner_->*Step)(); }), owner_(&owner) {}

   private:
    Owner* owner_;
  };
  void post(job& work) noexcept;

  subscription_loop* loop_;
  /// How many steps in a row, before other work on the runtime has its turn. Inline, the broker's window bounds them.
  const unsigned turn_;
  rendezvous meeting_;

 private:
  [[nodiscard]] ending by_policy(failure_policy policy, handled_event::failure failure, std::string text) noexcept;
  struct drive_job : job {
    explicit drive_job(worker& self) noexcept;
    worker* owner;
  };
  drive_job drive_;
};

} // namespace millrace
