#pragma once

#include "protocol/ack.hpp"
#include "session/connection.hpp"
#include "session/delivery_pool.hpp"
#include "session/settled_log.hpp"
#include "session/unsettled.hpp"
#include "transport/transport.hpp"

#include <millrace/incoming.hpp>

#include <atomic>
#include <memory>

namespace millrace::nats::detail {

class pull_reader; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final

/// What the deliveries of one JetStream subscription share with it, and keep when it is gone.
struct pull_account {
  explicit pull_account(std::shared_ptr<connection> c) noexcept : shared(std::move(c)) {}
  std::shared_ptr<connection> shared;
  std::weak_ptr<pull_reader> reader;
  std::atomic<std::uint64_t> released = 0;
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  std::atomic<std::uint64_t> tell_at = nobody; ///< the reader wants to know when `released` gets here
  /// Raised when an ephemeral consumer was replaced: what its predecessor delivered cannot be settled any more.
  std::atomic<std::uint32_t> consumer_generation = 0;
  settled_log settled;
  std::unique_ptr<unsettled_sequences> unsettled; ///< of ephemeral consumers only
};

class jetstream_delivery; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final
using jetstream_pool = delivery_pool<jetstream_delivery, std::shared_ptr<pull_account>>;

/// A message of a stream. Settling sends on its ack subject and waits for no confirmation: what is lost with the
/// connection is redelivered (nats 12.21). Released unsettled, it comes back after `ack_wait`.
class jetstream_delivery final : public incoming {
 public:
  explicit jetstream_delivery(jetstream_pool& pool) noexcept : pool_(pool) {}

  void load(received message, std::uint32_t generation) noexcept;

  [[nodiscard]] const header_map& headers() override;
  [[nodiscard]] std::uint32_t delivery_count() const noexcept override;
  [[nodiscard]] bool delays() const noexcept override { return true; }
  [[nodiscard]] std::string_view partition_key() override { return message_.header("nats-partition-key"); }
  [[nodiscard]] const void* field(const field_id& id) override;
  [[nodiscard]] result<void> settle(settlement how) noexcept override;
  void release() noexcept override;
  void unload() noexcept { message_.reset(); }

  jetstream_delivery* free_next = nullptr;

 private:
  jetstream_pool& pool_;
  received message_;
  std::uint32_t generation_ = 0;
  bool headers_ready_ = false;
  bool parsed_ready_ = false;
  std::optional<ack_subject> parsed_;
  header_map headers_;
};

} // namespace millrace::nats::detail
