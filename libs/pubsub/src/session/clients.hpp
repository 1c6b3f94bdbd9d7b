#pragma once

#include "session/connection.hpp"

#include <pubsub_wire.pb.h>

#include <string>

namespace millrace::pubsub::detail {

/// Administers topics: one of the connection's clients (lifecycle P2). Calls are repeated while their failure passes,
/// until `due`; an error is `errc::admin` with the resource's name.
class topic_admin {
 public:
  explicit topic_admin(connection& shared) noexcept : shared_(shared) {}
  /// True: it was created here.
  [[nodiscard]] task<result<bool>> ensure(std::string full_name, time_point due);

 private:
  connection& shared_;
};

/// Administers subscriptions.
class subscription_admin {
 public:
  explicit subscription_admin(connection& shared) noexcept : shared_(shared) {}
  /// Creates it unless it exists. True: it was created here. An existing one on another topic is an error.
  [[nodiscard]] task<result<bool>> ensure(wire::Subscription wanted, time_point due);
  /// Writes the dead-letter policy alone.
  [[nodiscard]] task<result<void>> set_dead_letters(wire::Subscription changed, time_point due);

 private:
  [[nodiscard]] task<result<bool>> check_existing(wire::Subscription wanted, time_point due);
  connection& shared_;
};

} // namespace millrace::pubsub::detail
