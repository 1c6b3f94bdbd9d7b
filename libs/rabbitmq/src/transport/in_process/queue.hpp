#pragma once

#include "transport/in_process/message.hpp"
#include "transport/in_process/queue_settings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::rabbitmq::detail::in_process {

class queue;
struct consumer;

/// Where a queue's messages go; implemented by a channel.
class consumer_owner {
 public:
  virtual void deliver(const std::shared_ptr<consumer>& to, queue& from, queued m) = 0;

 protected:
  ~consumer_owner() = default;
};

struct consumer {
  consumer_owner* owner = nullptr;
  queue* of = nullptr; ///< null once it was cancelled
  std::string tag;
  std::string arguments; ///< a table
  bool no_ack = false;
  bool exclusive = false;
  std::int64_t priority = 0;
  std::uint16_t prefetch = 0; ///< 0: no limit
  std::size_t held = 0;
  std::uint64_t offset = 0; ///< of the next message of a stream

  [[nodiscard]] bool has_room() const noexcept { return no_ack || prefetch == 0 || held < prefetch; }
};
using consumer_ptr = std::shared_ptr<consumer>;

/// What a queue asks of its vhost.
class queue_host {
 public:
  [[nodiscard]] virtual time_point now() const noexcept = 0;
  virtual void dead_letter(const queue& from, const queued& m, std::string_view reason) = 0;
  /// There may be something to hand over or to drop: `work` is called soon.
  virtual void touched(queue& q) = 0;

 protected:
  ~queue_host() = default;
};

enum class ending : std::uint8_t { ack, requeue, reject };

/// A queue of any kind and its consumers.
class queue : public std::enable_shared_from_this<queue> {
 public:
  queue(queue_host& host, queue_settings settings, std::uint64_t owner);
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;
  virtual ~queue() = default;

  [[nodiscard]] const queue_settings& settings() const noexcept { return settings_; }
  /// Of an exclusive queue, the connection; otherwise 0.
  [[nodiscard]] std::uint64_t owner() const noexcept { return owner_; }
  [[nodiscard]] std::size_t consumers() const noexcept { return consumers_.size(); }
  [[nodiscard]] virtual std::size_t ready() const noexcept = 0;

  /// False: it is full and refuses.
  virtual bool enqueue(const message_ptr& m) = 0;
  /// What was delivered ends, or comes back.
  virtual answer<void> settle(queued m, ending how) = 0;
  /// Drops what is over, hands over what can be.
  virtual void work() = 0;
  [[nodiscard]] virtual std::optional<time_point> next_due() const;

  virtual answer<void> add(consumer_ptr c);
  /// False: it was the last one of an auto-delete queue.
  [[nodiscard]] bool remove(const consumer& c);
  /// A declaration counts as use of a queue that expires.
  void used();
  [[nodiscard]] bool unused_for_too_long() const;
  /// What is still out of a deleted queue goes nowhere.
  void deleted() noexcept { deleted_ = true; }

 protected:
  [[nodiscard]] queue_host& host() const noexcept { return *host_; }
  [[nodiscard]] bool is_deleted() const noexcept { return deleted_; }
  [[nodiscard]] const std::vector<consumer_ptr>& all() const noexcept { return consumers_; }
  /// Whose turn it is; null: nobody has room.
  [[nodiscard]] consumer_ptr peek_turn() const noexcept;
  void hand_over(const consumer_ptr& to, queued m);

 private:
  queue_host* host_;
  queue_settings settings_;
  std::uint64_t owner_;
  std::vector<consumer_ptr> consumers_;
  time_point last_use_;
  bool deleted_ = false;
};
using queue_ptr = std::shared_ptr<queue>;

[[nodiscard]] queue_ptr make_queue(queue_host& host, queue_settings settings, std::uint64_t owner);

} // namespace millrace::rabbitmq::detail::in_process
