#pragma once

#include "session/lane.hpp"

#include <millrace/event.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace millrace::rabbitmq::detail {

/// A channel in the server's transaction mode. What belongs to a transaction goes to the channel that it began on, or
/// nowhere.
class tx_lane final : public lane {
 public:
  using lane::lane;

  /// Opens the channel if need be; answers which channel it is.
  [[nodiscard]] task<result<std::uint32_t>> begin();
  /// Stages a message on that channel.
  void stage(std::string frames, std::string_view routing_key, std::uint32_t generation, publish_operation& op);
  /// tx.commit or tx.rollback, and its answer.
  [[nodiscard]] task<result<void>> finish(bool commit, std::uint32_t generation);
  /// tx.rollback without waiting.
  void roll_back(std::uint32_t generation);

  [[nodiscard]] bool on_open(session& s) override;
  [[nodiscard]] bool on_method(session& s, method what, reader& args) override;
  void on_gone(session& s, std::uint16_t code, std::string_view text) noexcept override;

 protected:
  [[nodiscard]] bool needed() const noexcept override { return waiter_ != nullptr; }
  void opened() noexcept override;

 private:
  /// Who waits for the channel or for an answer.
  struct waiter {
    explicit waiter(runtime& rt) noexcept : done(rt) {}
    event done;
    method answer = method::none;
    std::optional<error> failure;
  };
  [[nodiscard]] bool is_open(std::uint32_t generation) const noexcept {
    return gate().open && gate().generation == generation;
  }
  void wake_waiter(method answer, std::optional<error> failure) noexcept;

  std::shared_ptr<waiter> waiter_; ///< guarded by the link's mutex
};

} // namespace millrace::rabbitmq::detail
