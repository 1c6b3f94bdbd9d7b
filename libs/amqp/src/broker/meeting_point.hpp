#pragma once

#include "session/connection.hpp"

#include <millrace/event.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace::amqp::detail {

/// Where the copies of a broker meet (lifecycle A8): whoever comes first connects, the others get the same connection.
class meeting_point {
 public:
  enum class mode : std::uint8_t { undecided, server, in_process };

  /// What to do next: connect (both empty), take the connection, or wait for the event and ask again.
  struct turn {
    std::shared_ptr<connection> live;
    std::shared_ptr<event> wait;
  };
  /// An error where a copy was connected in the other mode.
  [[nodiscard]] result<turn> arrive(runtime& rt, mode how);
  /// Whoever connected says how it ended; null: it failed, and another may try.
  void leave(const std::shared_ptr<connection>& live);

 private:
  std::mutex mutex_;
  mode mode_ = mode::undecided;
  bool connecting_ = false;
  std::weak_ptr<connection> live_;
  std::vector<std::shared_ptr<event>> waiting_;
};

} // namespace millrace::amqp::detail
