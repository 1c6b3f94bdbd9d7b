#pragma once

#include "session/connection.hpp"
#include "session/delivery_pool.hpp"
#include "transport/transport.hpp"

#include <millrace/incoming.hpp>

#include <memory>

namespace millrace::nats::detail {

class core_delivery; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final
using core_pool = delivery_pool<core_delivery, std::shared_ptr<connection>>;

/// A message of core NATS: there is nothing to settle.
class core_delivery final : public incoming {
 public:
  explicit core_delivery(core_pool& pool) noexcept : pool_(pool) { settles_ = false; }

  void load(received message) noexcept {
    message_ = std::move(message);
    payload_ = message_.payload();
    subject_ = message_.subject();
    headers_ready_ = false;
  }

  /// The sender's, and `reply-to` where it waits for an answer.
  [[nodiscard]] const header_map& headers() override;
  [[nodiscard]] std::string_view reply_to() override { return message_.reply(); }
  [[nodiscard]] std::string_view partition_key() override { return message_.header("nats-partition-key"); }
  /// Always `errc::unsupported`; not a failure.
  [[nodiscard]] result<void> settle(settlement) noexcept override { return fail(millrace::errc::unsupported, {}); }
  void release() noexcept override {
    if (payload_.size() > core_pool::largest_kept) unload();
    pool_.give_back(*this);
  }
  void unload() noexcept { message_.reset(); }

  core_delivery* free_next = nullptr;

 private:
  core_pool& pool_;
  received message_;
  header_map headers_;
  bool headers_ready_ = false;
};

} // namespace millrace::nats::detail
