#pragma once

#include <millrace/confirmation.hpp>
#include <millrace/incoming.hpp>
#include <millrace/task.hpp>

#include <utility>

namespace millrace {

/// One message in the hands of a program that consumes without a service. Move-only; settling consumes it, so settling
/// twice does not compile. Destroying it unsettled gives the message back to the broker, where the broker can
/// redeliver. It may outlive its connection: then settling answers `errc::closed` and sends nothing. Used by one thread
/// at a time.
class delivery {
 public:
  explicit delivery(incoming& m) noexcept : message_(&m) {}
  delivery(delivery&& other) noexcept : message_(std::exchange(other.message_, nullptr)) {}
  delivery& operator=(delivery&& other) noexcept {
    if (this != &other) {
      release();
      message_ = std::exchange(other.message_, nullptr);
    }
    return *this;
  }
  ~delivery() { release(); }

  [[nodiscard]] bytes_view payload() const noexcept { return message_->payload(); }
  [[nodiscard]] std::string_view text() const noexcept { return as_text(message_->payload()); }
  [[nodiscard]] std::string_view subject() const noexcept { return message_->subject(); }
  [[nodiscard]] const header_map& headers() const { return message_->headers(); }
  [[nodiscard]] std::string_view reply_to() const { return message_->reply_to(); }
  /// The broker's count, the first delivery is 1; 0 where it keeps none.
  [[nodiscard]] std::uint32_t delivery_count() const noexcept { return message_->delivery_count(); }
  [[nodiscard]] bool delays() const noexcept { return message_->delays(); }
  template <class T, class Broker> [[nodiscard]] const T* field(const field_key<T, Broker>& key) const {
    return static_cast<const T*>(message_->field(key));
  }

  /// `errc::unsupported` where the transport has no such settlement, `errc::closed` after the connection it came from.
  [[nodiscard]] result<void> settle(settlement how) && {
    incoming* m = std::exchange(message_, nullptr);
    auto settled = m->settle(how);
    m->release();
    return settled;
  }
  /// The same, and waits for the broker's own answer where that comes later (exactly-once Pub/Sub): then an error says
  /// that the message comes again.
  [[nodiscard]] task<result<void>> settle_confirmed(settlement how) && {
    auto later = message_->confirmation_of_settlement();
    auto settled = std::move(*this).settle(how);
    return confirmed(std::move(settled), std::move(later));
  }
  [[nodiscard]] result<void> ack() && { return std::move(*this).settle({settlement_kind::ack, {}}); }
  [[nodiscard]] result<void> retry() && { return std::move(*this).settle({settlement_kind::retry, {}}); }
  [[nodiscard]] result<void> retry_after(duration d) && {
    return std::move(*this).settle({settlement_kind::retry_after, d});
  }
  [[nodiscard]] result<void> drop() && { return std::move(*this).settle({settlement_kind::drop, {}}); }

 private:
  static task<result<void>> confirmed(result<void> settled, std::shared_ptr<confirmation> later) {
    if (!settled) co_return settled;
    settled = co_await confirmation::answer(std::move(later));
    co_return settled;
  }
  void release() noexcept {
    if (message_ != nullptr) std::exchange(message_, nullptr)->release();
  }
  incoming* message_;
};

} // namespace millrace
