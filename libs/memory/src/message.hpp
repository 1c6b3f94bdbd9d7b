#pragma once

#include <millrace/headers.hpp>
#include <millrace/incoming.hpp>
#include <millrace/memory.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::memory {

class hub;
class mailbox;
class consumer;

/// A published message; every mailbox that holds it shares it. Counted and recycled under the hub's mutex.
struct stored_message {
  std::string_view topic; ///< lent by the topic, which stays as long as the hub
  std::string payload;
  header_map headers;
  std::uint64_t sequence = 0;
  std::uint32_t holders = 0;
  stored_message* next_free = nullptr;
};

/// One delivery of one mailbox, reused from message to message. Guarded by the hub's mutex, except what `incoming`
/// lends to the handler.
class node final : public incoming {
 public:
  explicit node(hub& owner) noexcept : wake(*this), hub_(&owner) {}

  const header_map& headers() override { return message->headers; }
  std::string_view reply_to() override { return message->headers.get("reply-to").value_or(""); }
  std::uint32_t delivery_count() const noexcept override { return deliveries; }
  bool delays() const noexcept override { return true; }
  std::string_view partition_key() override { return message->headers.get("partition-key").value_or(""); }
  const void* field(const field_id& id) override;
  result<void> settle(settlement how) noexcept override;
  void release() noexcept override;

  void hold(stored_message& m, mailbox& in) noexcept {
    ++m.holders;
    message = &m;
    box = &in;
    deliveries = 0;
    payload_ = as_bytes(m.payload);
    subject_ = m.topic;
  }

  stored_message* message = nullptr;
  mailbox* box = nullptr;
  consumer* taker = nullptr; ///< who it was handed to
  /// Nothing of it is left to do: acknowledged, rejected, or void since a seek.
  [[nodiscard]] bool ended() const noexcept {
    return settled ? how.kind == settlement_kind::ack || how.kind == settlement_kind::drop : discarded();
  }

  std::uint32_t deliveries = 0;
  std::optional<seek_handle> seek; ///< made when a handler asks for it
  bool out = false;                ///< in the hands of dispatch
  bool settled = false;
  settlement how{};
  node* next_delayed = nullptr;
  node* previous_delayed = nullptr;

  struct wake_timer : timer {
    explicit wake_timer(node& self) noexcept;
    node* owner;
  } wake;

 private:
  hub* hub_;
};

} // namespace millrace::memory
