#pragma once

#include <millrace/outgoing.hpp>
#include <millrace/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::rabbitmq::detail {

/// A publish whose end is known.
struct settled_publish {
  enum class how : std::uint8_t { accepted, refused, returned, expired, lost };
  publish_operation* operation = nullptr;
  how end = how::accepted;
  std::uint16_t return_code = 0;
  std::string routing_key; ///< filled for failures
};

/// The publishes of one confirming channel that the server has not confirmed, by delivery tag. Reuses its memory. Not
/// thread-safe.
class confirm_ledger {
 public:
  /// Messages in flight, at most.
  void limit(std::size_t window) noexcept { window_ = window; }
  [[nodiscard]] bool full() const noexcept { return size_ >= window_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// The channel's next message.
  void add(publish_operation& operation, std::string_view routing_key, time_point due);
  /// basic.ack or basic.nack. False: the channel never sent such a tag.
  bool confirm(std::uint64_t tag, bool multiple, bool accepted, std::vector<settled_publish>& ended);
  /// basic.return: every message in flight under that key counts as returned once it is confirmed.
  void returned(std::string_view routing_key, std::uint16_t code) noexcept;
  /// Ends what is due; its tag stays in the window until the server confirms it.
  void expire(time_point now, std::vector<settled_publish>& ended);
  /// The channel is gone: acceptance of what is in flight is unknown. The next tag is 1 again.
  void lose(std::vector<settled_publish>& ended);
  /// When the oldest message that waits is due.
  [[nodiscard]] const time_point* next_due() const noexcept;

 private:
  struct entry {
    publish_operation* operation = nullptr;
    std::string routing_key;
    time_point due;
    std::uint16_t return_code = 0;
    bool confirmed = false;
  };
  [[nodiscard]] entry& at(std::size_t i) noexcept { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  [[nodiscard]] const entry& at(std::size_t i) const noexcept { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  void grow();
  void end(entry& e, settled_publish::how how, std::vector<settled_publish>& ended);

  std::vector<entry> ring_; ///< a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  std::size_t window_ = 1024;
  std::uint64_t first_tag_ = 1; ///< of the entry at the head
};

} // namespace millrace::rabbitmq::detail
