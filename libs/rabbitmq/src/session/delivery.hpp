#pragma once

#include "protocol/content.hpp"
#include "session/link.hpp"

#include <millrace/incoming.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace::rabbitmq::detail {

/// What the deliveries of one subscription need to settle themselves.
struct consumer_seat {
  consumer_seat(std::shared_ptr<link> shared_link, queue_spec described)
      : shared(std::move(shared_link)), queue(std::move(described)) {}
  std::shared_ptr<link> shared;
  queue_spec queue;
  std::uint32_t most_attempts = 0; ///< of a quorum queue whose retries are copies; 0: no cap here
  channel_gate gate;               ///< guarded by the link's mutex
  std::atomic<bool> stopping = false;
};

class delivery_pool;

/// One message that the server delivered. It holds its bytes, reused from message to message, and remembers the channel
/// it came from.
class delivery final : public incoming {
 public:
  explicit delivery(delivery_pool& pool) noexcept : pool_(&pool) {}

  // The I/O thread fills it.
  void begin(const deliver_args& args, std::uint32_t generation);
  /// False: the header is malformed or the body is larger than anything the server accepts.
  [[nodiscard]] bool header(std::string_view payload);
  /// False: more bytes than the header announced.
  [[nodiscard]] bool body(std::string_view part);
  [[nodiscard]] bool complete() const noexcept { return missing_ == 0; }
  void finish() noexcept;

  [[nodiscard]] const header_map& headers() override;
  [[nodiscard]] std::string_view reply_to() override { return received_properties(properties()).reply_to; }
  [[nodiscard]] std::uint32_t delivery_count() const noexcept override;
  [[nodiscard]] bool delays() const noexcept override;
  [[nodiscard]] std::string_view partition_key() override;
  [[nodiscard]] const void* field(const field_id& id) override;
  [[nodiscard]] result<void> settle(settlement how) noexcept override;
  void release() noexcept override;

  delivery* free_next = nullptr;

 private:
  [[nodiscard]] std::string_view properties() const noexcept;
  [[nodiscard]] bool is_current() const noexcept;
  [[nodiscard]] result<void> settle_on_channel(settlement how);
  [[nodiscard]] result<void> retry_later(duration delay);
  [[nodiscard]] std::uint32_t copies() const noexcept;

  delivery_pool* pool_;
  std::string bytes_; ///< exchange, routing key, properties, body
  std::size_t exchange_size_ = 0;
  std::size_t key_size_ = 0;
  std::size_t properties_size_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t tag_ = 0;
  std::uint32_t generation_ = 0;
  bool redelivered_ = false;
  bool settled_ = false;
  bool headers_ready_ = false;
  std::string_view exchange_;
  header_map headers_;
};

/// Reusable deliveries of one subscription. `take` is for the I/O thread, `give_back` for any. It outlives its owner
/// until the last delivery came back.
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
  /// A head that no delivery has: the owner is gone.
  [[nodiscard]] delivery* orphaned() noexcept { return reinterpret_cast<delivery*>(this); }
  void orphan() noexcept;
  void count_down(std::ptrdiff_t n) noexcept;

  std::shared_ptr<consumer_seat> seat_;
  std::vector<std::unique_ptr<delivery>> all_;
  delivery* local_ = nullptr;
  std::atomic<delivery*> returned_ = nullptr;
  std::atomic<std::ptrdiff_t> out_ = 0; ///< counts only once the owner is gone
};

} // namespace millrace::rabbitmq::detail
