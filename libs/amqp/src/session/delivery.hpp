#pragma once

#include "protocol/message_in.hpp"
#include "session/hub.hpp"
#include "session/outcome.hpp"

#include <millrace/amqp/address.hpp>
#include <millrace/incoming.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace::amqp::detail {

class consumer;

/// A delivery that its handler is done with.
struct settlement_entry {
  pn_delivery_t* delivery; ///< null: it was settled on receipt, only its credit comes back
  std::uint32_t generation;
  verdict how;
};

/// What the deliveries of one subscription need to settle themselves.
struct consumer_seat : std::enable_shared_from_this<consumer_seat> {
  consumer_seat(std::shared_ptr<hub> shared_hub, source_spec described)
      : shared(std::move(shared_hub)), source(std::move(described)) {}
  [[nodiscard]] std::string place() const { return "address '" + source.address + "'"; }

  std::shared_ptr<hub> shared;
  const source_spec source;
  std::atomic<bool> counts = true; ///< whether the peer counts deliveries
  // Guarded by the hub's mutex.
  bool open = false;
  bool knows_modified = true;
  std::uint32_t generation = 0; ///< raised when the link is lost: what came over the old one may not be settled
  std::vector<settlement_entry> settled;
  bool queued = false;
  std::weak_ptr<consumer> owner; ///< set before the I/O side knows of it
};

class delivery_pool;

/// One message that the peer delivered. It holds its bytes, reused from message to message, and remembers the link it
/// came over.
class delivery final : public incoming {
 public:
  explicit delivery(delivery_pool& pool) noexcept : pool_(&pool) {}

  // The I/O side fills it.
  void begin(std::uint32_t generation) noexcept;
  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  void finish(pn_delivery_t* d) noexcept;
  [[nodiscard]] const received& message() const noexcept { return message_; }

  [[nodiscard]] const header_map& headers() override;
  [[nodiscard]] std::string_view reply_to() override { return received_properties(message_).reply_to; }
  [[nodiscard]] std::uint32_t delivery_count() const noexcept override;
  [[nodiscard]] std::string_view partition_key() override { return received_properties(message_).group_id; }
  [[nodiscard]] const void* field(const field_id& id) override;
  [[nodiscard]] result<void> settle(settlement how) noexcept override;
  void release() noexcept override;
  /// Gives the storage back; the peer hears nothing.
  void discard() noexcept;

  delivery* free_next = nullptr;

 private:
  [[nodiscard]] result<void> hand_in(verdict how) noexcept;
  [[nodiscard]] result<void> queue_up(verdict how);
  [[nodiscard]] result<void> no_delay() const;
  [[nodiscard]] bool is_void(const consumer_seat& seat) const noexcept;
  [[nodiscard]] bool settles() const noexcept;

  delivery_pool* pool_;
  std::string bytes_;
  received message_;
  pn_delivery_t* at_peer_ = nullptr; ///< for the I/O side
  std::uint32_t generation_ = 0;
  bool settled_ = false;
  bool headers_ready_ = false;
  std::string_view to_, message_subject_;
  header_map headers_;
};

/// Reusable deliveries of one subscription. `take` is for the I/O side, `give_back` for any thread. It outlives its
/// owner until the last delivery came back.
class delivery_pool {
 public:
  struct abandon {
    void operator()(delivery_pool* pool) const noexcept { pool->orphan(); }
  };
  using owner = std::unique_ptr<delivery_pool, abandon>;
  [[nodiscard]] static owner make(std::shared_ptr<consumer_seat> seat) {
    return owner(new delivery_pool(std::move(seat)));
  }

  [[nodiscard]] delivery& take();
  void give_back(delivery& d) noexcept;
  [[nodiscard]] consumer_seat& seat() noexcept { return *seat_; }

 private:
  explicit delivery_pool(std::shared_ptr<consumer_seat> seat) : seat_(std::move(seat)) {}
  void orphan() noexcept;
  void drop_one() noexcept;

  std::shared_ptr<consumer_seat> seat_;
  std::vector<std::unique_ptr<delivery>> all_;
  delivery* local_ = nullptr;
  std::atomic<delivery*> returned_ = nullptr;
  /// The owner's share, and one for each delivery that is out.
  std::atomic<std::size_t> users_ = 1;
};

} // namespace millrace::amqp::detail
