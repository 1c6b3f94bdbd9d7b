#pragma once

#include <millrace/incoming.hpp>
#include <millrace/outcome.hpp>
#include <millrace/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// The header that counts the copies a service published of a message, where the broker keeps no count of its own.
inline constexpr std::string_view retry_count_header = "x-millrace-retry-count";

/// Which delivery of the message it is, the first is 1: the broker's count, or else the copies' header.
[[nodiscard]] std::uint32_t attempt_of(incoming& m);

namespace detail {
struct publish_cell;
/// The outputs of one registration, few.
struct bound_output {
  const void* tag = nullptr;
  std::shared_ptr<publish_cell> cell;
  std::string_view name;
  const void* writers = nullptr; ///< the marker's `output_writers`
};
} // namespace detail

/// What a context is bound to, once for all its deliveries.
struct invocation_binding {
  std::string_view subscription;
  millrace::runtime* rt = nullptr;
  const void* state = nullptr;
  const std::function<void()>* stop = nullptr;
  const std::vector<detail::bound_output>* outputs = nullptr;
};

/// One delivery, as its handler sees it besides the decoded message. Valid until the handler ends; used by one thread
/// at a time.
class context {
 public:
  /// The name the message arrived on.
  [[nodiscard]] std::string_view subject() const noexcept { return message_->subject(); }
  /// The registration's name.
  [[nodiscard]] std::string_view subscription() const noexcept { return subscription_; }
  /// The bytes as the broker handed them.
  [[nodiscard]] bytes_view payload() const noexcept { return message_->payload(); }

  /// The headers, as the message brought them or as `edit_headers` left them.
  [[nodiscard]] const header_map& headers() const { return edited_ ? *edited_ : message_->headers(); }
  /// A private copy, made on the first call: edits are seen later in this delivery and nowhere else.
  [[nodiscard]] header_map& edit_headers();

  /// Where the sender wants the answer; empty if it wants none.
  [[nodiscard]] std::string_view reply_to() const { return message_->reply_to(); }
  /// Which delivery of this message it is, the first is 1: the broker's count, or else the copies' header.
  [[nodiscard]] std::uint32_t attempt() const { return attempt_of(*message_); }
  /// How many messages the call of a batch handler has; 0: the handler takes single messages.
  [[nodiscard]] std::size_t batch_size() const noexcept { return batch_size_; }

  /// When the answer is due at the latest, on the service's clock, as middleware that limits the time said
  /// (`resilience::timeout`). Nothing is abandoned then: it is for bounds of the handler's own waits.
  [[nodiscard]] std::optional<time_point> deadline() const noexcept {
    return deadline_ == time_point::max() ? std::nullopt : std::optional(deadline_);
  }
  /// For middleware. An earlier deadline stays.
  void limit(time_point due) noexcept { deadline_ = std::min(deadline_, due); }

  /// A field of this broker's deliveries, or null where the delivery has none.
  template <class T, class Broker> [[nodiscard]] const T* field(const field_key<T, Broker>& key) const {
    return static_cast<const T*>(message_->field(key));
  }

  /// The publisher that an output is bound to; handlers take `out<Marker>` instead.
  [[nodiscard]] const detail::bound_output& output(const void* tag) const noexcept;

  /// The service's clock and scheduler.
  [[nodiscard]] millrace::runtime& runtime() const noexcept { return *runtime_; }
  /// Suspends on the service's clock. If the stopping service gives the wait up, the message stays unsettled.
  [[nodiscard]] millrace::sleep_for sleep_for(duration d) const noexcept { return {*runtime_, d}; }

  /// Asks the service to stop, in order, once this message is settled.
  void stop_service() const { (*stop_)(); }

  /// Runs `f` after the settlement, whatever it is; see `outcome::then`.
  template <continuation F> void after_settle(F f) { add_hook(std::move(f), std::nullopt); }
  /// Runs `f` after a settlement of this kind alone.
  template <continuation F> void after(settlement_kind kind, F f) { add_hook(std::move(f), kind); }
  template <continuation F> void after_ack(F f) { add_hook(std::move(f), settlement_kind::ack); }

 private:
  friend class invocation;
  friend class batch_invocation;
  template <class F> void add_hook(F f, std::optional<settlement_kind> only) {
    auto hook = std::make_unique<detail::settled_hook_of<F>>(std::move(f));
    hook->only = only;
    append(std::move(hook));
  }
  void append(std::unique_ptr<detail::settled_hook> hook) noexcept;
  void bind(const invocation_binding& to) noexcept {
    subscription_ = to.subscription;
    runtime_ = to.rt;
    state_ = to.state;
    stop_ = to.stop;
    outputs_ = to.outputs;
  }
  void attach(incoming& m) noexcept { message_ = &m; }
  void detach() noexcept {
    message_ = nullptr;
    deadline_ = time_point::max();
    if (edited_) edited_.reset();
    if (hooks_) hooks_.reset();
  }

  incoming* message_ = nullptr;
  std::size_t batch_size_ = 0;
  time_point deadline_ = time_point::max();
  std::string_view subscription_;
  millrace::runtime* runtime_ = nullptr;
  const void* state_ = nullptr;
  const std::function<void()>* stop_ = nullptr;
  const std::vector<detail::bound_output>* outputs_ = nullptr;
  std::unique_ptr<header_map> edited_;
  std::unique_ptr<detail::settled_hook> hooks_;
};

} // namespace millrace
