#pragma once

#include "session/channel_user.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::rabbitmq::detail {

/// The channels of one connection by number. A number is free again when both sides have closed it.
class channel_table {
 public:
  enum class state : std::uint8_t { free, opening, open, closing };
  struct slot {
    state how = state::free;
    channel_user* user = nullptr;
  };

  void limit(std::uint16_t channel_max) noexcept { most_ = channel_max; }
  /// A free number, now opening for `user`; 0: there is none.
  [[nodiscard]] std::uint16_t take(channel_user& user);
  /// Null: no such channel is in use.
  [[nodiscard]] slot* find(std::uint16_t number) noexcept;
  /// We close it: what still arrives has no user.
  void close(std::uint16_t number) noexcept;
  void release(std::uint16_t number) noexcept;
  /// The connection is lost: answers the users of open channels and forgets all.
  [[nodiscard]] std::vector<channel_user*> take_all();

 private:
  std::vector<slot> slots_; ///< of number 1 and up
  std::uint16_t most_ = 2047;
};

} // namespace millrace::rabbitmq::detail
