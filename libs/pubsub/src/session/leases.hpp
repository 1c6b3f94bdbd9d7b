#pragma once

#include "session/alarm.hpp"
#include "session/pull_block.hpp"
#include "session/settlements.hpp"

#include <millrace/pubsub/subscription.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace::pubsub::detail {

class connection;
class puller;

/// Everything that is delivered and not settled of one subscription: keeps the leases, holds delayed retries, and sends
/// settlements. It outlives the subscription's puller until the last delivery is released (lifecycle P9), and ends with
/// the connection.
class leases : public std::enable_shared_from_this<leases> {
 public:
  leases(std::shared_ptr<connection> shared, const pubsub::subscription& source, std::string full_name,
         std::uint32_t cap);

  /// Who wants to hear of releases, and of acknowledgements that are refused; it may go. Before the first delivery.
  void tell(const std::shared_ptr<puller>& reader);

  /// A block to fill with one response.
  [[nodiscard]] pull_block& take_block();
  /// The block is filled: its leases are kept from now on.
  void keep(pull_block& block);
  /// Of a block that is kept: its messages go back, unseen.
  void send_back(pull_block& block) noexcept;
  /// Nothing in it was delivered, or the last delivery came back.
  void give_back(pull_block& block) noexcept;

  [[nodiscard]] result<void> settle(pull_delivery& d, settlement how) noexcept;
  /// Null, unless the subscription is an exactly-once one.
  [[nodiscard]] std::shared_ptr<confirmation> make_confirmation() const;
  /// What the stream said of its subscription.
  void set_exactly_once(bool on) noexcept { exactly_once_.store(on, std::memory_order_relaxed); }
  void release(pull_delivery& d) noexcept;

  /// Everything that is held goes back, and settlements go out; false: not all were answered before `due`.
  [[nodiscard]] task<bool> flush(time_point due);
  /// Nothing is sent any more.
  void close() noexcept;
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& full_name() const noexcept { return full_name_; }

 private:
  [[nodiscard]] result<void> delay(pull_delivery& d, duration by, const told_later& told) noexcept;
  void nack(pull_delivery& d, told_later told = nullptr) noexcept;
  /// No lease is kept any more. False: somebody else settled it.
  bool settled(pull_delivery& d) noexcept;
  void nack_held();
  void unlink(pull_block& block) noexcept;
  void drop(pull_block& block) noexcept;
  void tick() noexcept;
  void extend_due(time_point now);
  void extend(pull_block& block);
  void nack_due(time_point now);
  void give_delays_to_the_service(time_point now);
  void set_alarm();
  [[nodiscard]] duration margin() const noexcept;
  [[nodiscard]] error closed_error() const;

  const std::shared_ptr<connection> shared_;
  const std::string name_;
  const std::string full_name_;
  const std::uint32_t cap_; ///< the declared dead-letter limit; 0: none
  const std::chrono::seconds extension_;
  const duration max_lease_;
  const std::shared_ptr<settlements> settlements_;
  std::weak_ptr<puller> reader_;

  std::atomic<bool> closed_ = false;
  std::atomic<bool> exactly_once_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<pull_block>> blocks_;
  std::vector<pull_block*> free_;
  pull_block* first_kept_ = nullptr; ///< of the blocks with unsettled deliveries
  std::multimap<time_point, pull_delivery*> delayed_;
  alarm alarm_;
};

} // namespace millrace::pubsub::detail
