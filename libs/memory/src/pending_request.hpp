#pragma once

#include <millrace/event.hpp>
#include <millrace/outgoing.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::memory {

/// Where requests wait for their answers: no topics, so that an answer that comes too late leaves nothing behind.
inline constexpr std::string_view inbox_prefix = "_reply.";
[[nodiscard]] inline bool is_inbox(std::string_view name) noexcept { return name.starts_with(inbox_prefix); }

/// A request that waits for its answer, used again and again under another inbox each time. Guarded by the hub's mutex,
/// except what the requester awaits.
class pending_request {
 public:
  pending_request(runtime& rt, std::size_t slot) noexcept : answered(rt), slot_(slot) {}

  /// The next question has an inbox of its own.
  void begin();
  [[nodiscard]] std::string_view inbox() const noexcept { return {inbox_.data(), inbox_size_}; }
  /// The slot that an inbox names.
  [[nodiscard]] static std::optional<std::size_t> slot_of(std::string_view inbox) noexcept;

  event answered;
  reply_message answer;
  bool waiting = false;
  pending_request* next_free = nullptr;

 private:
  std::size_t slot_;
  std::uint64_t round_ = 0;
  std::array<char, 48> inbox_{};
  std::size_t inbox_size_ = 0;
};

} // namespace millrace::memory
