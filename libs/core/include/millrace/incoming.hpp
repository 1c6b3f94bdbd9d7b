#pragma once

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>
#include <millrace/headers.hpp>
#include <millrace/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

namespace millrace {

class confirmation;

/// What becomes of a message at its broker.
enum class settlement_kind : std::uint8_t {
  ack,         ///< done; the broker forgets it
  retry,       ///< redelivered at once
  retry_after, ///< redelivered no sooner than the delay
  drop,        ///< rejected for good; the broker's own dead-letter rule applies
};

struct settlement {
  settlement_kind kind = settlement_kind::ack;
  duration delay{};
};

/// Names a broker-specific field of a delivery; compared by address. `inline constexpr field_key<std::uint64_t>
/// sequence{};`
class field_id {
 public:
  constexpr field_id() noexcept = default;
  field_id(const field_id&) = delete;
  field_id& operator=(const field_id&) = delete;
};
/// `Broker`, if given, is the connected broker whose deliveries have the field: a handler that asks another one for it
/// does not compile.
template <class T, class Broker = void> class field_key : public field_id {
 public:
  using value_type = T;
  using broker_type = Broker;
};

/// The seam between a broker and dispatch: one message as its broker holds it. The broker owns the object and the bytes
/// and reuses both; dispatch borrows it until `release`, on one thread at a time, and calls `settle` at most once. It
/// may outlive its connection: then `settle` answers `errc::closed` and sends nothing.
class incoming {
 public:
  incoming() = default;
  incoming(const incoming&) = delete;
  incoming& operator=(const incoming&) = delete;

  [[nodiscard]] bytes_view payload() const noexcept { return payload_; }
  /// The name the message arrived on (subject, routing key, address).
  [[nodiscard]] std::string_view subject() const noexcept { return subject_; }

  /// Built on the first call, so that a handler that never asks pays nothing.
  [[nodiscard]] virtual const header_map& headers() = 0;
  /// Where the sender wants the answer; empty if it wants none.
  [[nodiscard]] virtual std::string_view reply_to() { return {}; }
  /// The broker's own count of deliveries, the first is 1; 0 where it keeps none.
  [[nodiscard]] virtual std::uint32_t delivery_count() const noexcept { return 0; }
  /// The transport redelivers after a delay by itself.
  [[nodiscard]] virtual bool delays() const noexcept { return false; }
  /// Messages of one key are handled in order by keyed lanes; empty: none.
  [[nodiscard]] virtual std::string_view partition_key() { return {}; }
  /// A broker-specific value (a `T` for the `field_key<T>`), or null.
  [[nodiscard]] virtual const void* field(const field_id&) { return nullptr; }

  /// Hands the settlement to the transport; must not block. `errc::unsupported`: there is no such settlement here;
  /// `errc::closed`: the connection it came from is gone; anything else: the broker still holds the message.
  [[nodiscard]] virtual result<void> settle(settlement how) noexcept = 0;
  /// For a caller that must know when the broker has the settlement, asked before `settle`: what tells, once `settle`
  /// has answered success, and after the release too. Null: the answer of `settle` says it all.
  [[nodiscard]] virtual std::shared_ptr<confirmation> confirmation_of_settlement() { return nullptr; }
  /// The last call: gives the storage back. An unsettled message returns to the broker, where the broker can redeliver.
  virtual void release() noexcept = 0;

  /// False: there is nothing to settle here, and dispatch does not ask.
  [[nodiscard]] bool settles() const noexcept { return settles_; }

  /// A seek made this delivery void: dispatch releases it unhandled, unless it is at it already. The broker's to set.
  [[nodiscard]] bool discarded() const noexcept { return discarded_.load(std::memory_order_relaxed); }
  void set_discarded(bool on) noexcept { discarded_.store(on, std::memory_order_relaxed); }

  incoming* next = nullptr; ///< link of the batch or queue that holds it
  bool ends_batch = false;  ///< the last of a batch that its broker formed; dispatch's to set

 protected:
  ~incoming() = default;
  bytes_view payload_;
  std::string_view subject_;
  bool settles_ = true;

 private:
  std::atomic<bool> discarded_ = false;
};

/// A chain of deliveries, in order. Moves whole: one hand-over for many messages.
class incoming_batch {
 public:
  incoming_batch() noexcept = default;
  incoming_batch(incoming_batch&& other) noexcept { take(other); }
  incoming_batch& operator=(incoming_batch&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~incoming_batch() = default;

  void push(incoming& m) noexcept {
    m.next = nullptr;
    if (last_ != nullptr)
      last_->next = &m;
    else
      first_ = &m;
    last_ = &m;
    ++size_;
  }
  [[nodiscard]] incoming* pop() noexcept {
    incoming* m = first_;
    if (m == nullptr) return nullptr;
    first_ = m->next;
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return m;
  }
  void append(incoming_batch&& other) noexcept {
    if (other.first_ == nullptr) return;
    if (last_ != nullptr)
      last_->next = other.first_;
    else
      first_ = other.first_;
    last_ = other.last_;
    size_ += other.size_;
    other.forget();
  }
  /// Releases every message unsettled.
  void release_all() noexcept {
    while (incoming* m = pop())
      m->release();
  }
  [[nodiscard]] incoming* last() const noexcept { return last_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  void take(incoming_batch& other) noexcept {
    first_ = other.first_;
    last_ = other.last_;
    size_ = other.size_;
    other.forget();
  }
  void forget() noexcept {
    first_ = last_ = nullptr;
    size_ = 0;
  }
  incoming* first_ = nullptr;
  incoming* last_ = nullptr;
  std::size_t size_ = 0;
};

/// Who hands a batch over.
enum class deliver_from : std::uint8_t {
  io_thread, ///< the broker's own thread: with `threads(0)` the handlers may run right here
  anywhere,  ///< a thread that must not run handlers (a publisher's, a settling handler's)
};

/// Dispatch, as a broker sees it. Thread-safe; no call blocks, unless `deliver` runs handlers inline.
class sink {
 public:
  virtual void deliver(incoming_batch batch, deliver_from where) noexcept = 0;
  /// The consumer is absent and the broker is restoring it: health turns red.
  virtual void interrupted(error why) noexcept = 0;
  /// The consumer is back.
  virtual void resumed() noexcept = 0;
  /// The consumer is gone for good (deleted, forbidden): health stays red and the service is told.
  virtual void ended(error why) noexcept = 0;
  /// `count` more messages were lost because the consumer was too slow (core NATS).
  virtual void dropped(std::uint64_t count) noexcept = 0;
  /// `count` settlements that were handed over were refused afterwards (exactly-once Pub/Sub): their messages come
  /// again, though their handlers were told of no failure.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): taken like the others
  virtual void refused(std::uint64_t /*count*/, error /*why*/) noexcept {}

 protected:
  ~sink() = default;
};

} // namespace millrace
